// Ctrl-C ends the process even if nothing reads its output.
#include <csignal>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/report/writers/formats.hpp"

using namespace cachebisect::test;
using nlohmann::json;

namespace {

const std::size_t kReportsAndPipe = cachebisect::report_formats().size() + 1;

/// A pipe of one page that is never read.
class StoppedPipe {
 public:
  explicit StoppedPipe(const TemporaryFolder& folder) : path_(folder.path("pipe")) {
    REQUIRE(mkfifo(path_.c_str(), 0600) == 0);
    end_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(fcntl(end_, F_SETPIPE_SZ, kBytes) == kBytes);
  }
  ~StoppedPipe() { close(end_); }
  StoppedPipe(const StoppedPipe&) = delete;
  StoppedPipe& operator=(const StoppedPipe&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void await_full() const {
    int waiting = 0;
    for (int i = 0; i < 6000 && waiting < kBytes; ++i) {
      ioctl(end_, FIONREAD, &waiting);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    CHECK(waiting == kBytes);
  }

 private:
  static constexpr int kBytes = 4096;
  std::string path_;
  int end_ = -1;
};

/// The tool with its standard output in the pipe.
CommandResult run_into(const StoppedPipe& pipe, const std::vector<std::string>& options,
                       const During& during) {
  std::vector<std::string> words{"sh", "-c",        R"(out=$1; shift; exec "$@" > "$out")",
                                 "sh", pipe.path(), CACHEBISECT_BINARY_DIR "/bin/cachebisect"};
  words.insert(words.end(), options.begin(), options.end());
  return run(words, starved_pipeline(), during);
}

}  // namespace

TEST_CASE("Ctrl-C ends a process that waits for the reader of its report") {
  const TemporaryFolder folder;
  const StoppedPipe pipe(folder);
  const auto result =
      run_into(pipe, {"--pipeline", "-", "--budget", "1", "--json", "-", "--out", folder.path()},
               [&](pid_t child, const std::string&) {
                 pipe.await_full();
                 kill(child, SIGINT);
               });
  CHECK(result.exit_code == 130);
  CHECK(json::accept(read_file(folder.path("report.json"))));
  CHECK(entries_in(folder.path()) == kReportsAndPipe);
}

TEST_CASE("a signal while measuring writes the files and gives up the stopped pipe") {
  const TemporaryFolder folder;
  const StoppedPipe pipe(folder);
  const auto result = run_into(pipe,
                               {"--pipeline", "-", "--budget", "600", "--min-drop", "0.1%",
                                "--log-level", "debug", "--json", "-", "--out", folder.path()},
                               [&](pid_t child, const std::string& log) {
                                 await_second_super_round(log);
                                 kill(child, SIGHUP);
                               });
  CHECK(result.exit_code == 129);
  const std::string report = read_file(folder.path("report.json"));
  REQUIRE(json::accept(report));
  CHECK(json::parse(report)["interrupted"] == true);
}

TEST_CASE("a second signal ends the process at once and leaves no temporary file") {
  const TemporaryFolder folder;
  const StoppedPipe pipe(folder);
  const auto result =
      run_into(pipe, {"--pipeline", "-", "--budget", "1", "--json", "-", "--out", folder.path()},
               [&](pid_t child, const std::string&) {
                 pipe.await_full();
                 kill(child, SIGTERM);
                 await_signal_taken(child, SIGTERM);  // pending signals of one kind are one
                 kill(child, SIGTERM);
               });
  CHECK(result.exit_code == 143);
  CHECK(entries_in(folder.path()) == kReportsAndPipe);
}

TEST_CASE("a FIFO that nothing reads does not hold Ctrl-C back") {
  const TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const auto result =
      run_tool({"--pipeline", "-", "--budget", "0.5", "--no-explain", "--json", fifo},
               starved_pipeline(), [&](pid_t child, const std::string& log) {
                 const std::string out = log.substr(0, log.size() - 3) + "out";
                 await_text(out, [](const std::string& text) { return has(text, "ceiling"); });
                 kill(child, SIGINT);
               });
  CHECK(result.exit_code == 130);
}

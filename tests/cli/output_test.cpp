// What --json and --out write to: files are replaced whole, everything else is written to.
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/chrome_trace.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cachebisect/report/writers/formats.hpp"

using cachebisect::report_formats;
using cachebisect::ReportFormat;
using namespace cachebisect::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

CommandResult short_run(std::vector<std::string> options, const During& during = {}) {
  options.insert(options.begin(), {"--pipeline", "-", "--budget", "0.5", "--no-explain"});
  return run_tool(std::move(options), starved_pipeline(), during);
}

/// The tool in a shell, with what the shell does to its descriptors.
CommandResult shell_run(const std::string& options_and_redirections) {
  return run({"sh", "-c",
              CACHEBISECT_BINARY_DIR "/bin/cachebisect --pipeline - --budget 0.5 --no-explain " +
                  options_and_redirections},
             starved_pipeline());
}

bool is_report(const std::string& text) {
  return json::accept(text) && json::parse(text)["command"] == "bisect";
}

bool has_temporaries(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (has(entry.path().string(), ".tmp")) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a device is written to and stays a device") {
  const TemporaryFolder folder;
  const std::string null = folder.path("null");
  // As /dev/null, which a mistake would replace for the whole machine.
  if (mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0 || access(null.c_str(), W_OK) != 0) {
    return skip("the right to make devices (mknod)");
  }
  CHECK(short_run({"--json", null}).exit_code == 0);
  CHECK(fs::is_character_file(null));
  CHECK(entries_in(folder.path()) == 1);
}

TEST_CASE("a FIFO gets the report, also if its reader comes later, and stays a FIFO") {
  for (const bool reader_first : {true, false}) {
    CAPTURE(reader_first);
    const TemporaryFolder folder;
    const std::string fifo = folder.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    std::future<std::string> received;
    const auto read = [&] { received = std::async(std::launch::async, read_file, fifo); };
    if (reader_first) read();
    const auto result = short_run({"--json", fifo}, [&](pid_t, const std::string&) {
      if (!reader_first) read();
    });
    CHECK(result.exit_code == 0);
    CHECK(is_report(received.get()));
    CHECK(fs::is_fifo(fifo));
    CHECK(entries_in(folder.path()) == 1);
  }
}

TEST_CASE("standard streams and inherited descriptors get the report") {
  if (access("/dev/fd/0", F_OK) != 0) return skip("/dev/fd, which leads to /proc/self/fd");
  const auto to_stdout = short_run({"--quiet", "--json", "/dev/stdout"});
  CHECK(to_stdout.exit_code == 0);
  CHECK(is_report(to_stdout.out));
  CHECK(fs::is_symlink("/dev/stdout"));
  const auto to_stderr = short_run({"--quiet", "--json", "/dev/stderr"});
  CHECK(to_stderr.exit_code == 0);
  CHECK(is_report(to_stderr.err));
  // As a shell's process substitution: --json >(cat)
  const auto to_pipe = shell_run("--quiet --json /dev/fd/3 3>&1 >/dev/null | cat");
  CHECK(is_report(to_pipe.out));
  const auto both = short_run({"--json", "/dev/stdout"});
  CHECK(has(both.out, "step alone (ceiling)"));
  CHECK(has(both.out, "\"schema_version\""));
}

TEST_CASE("a descriptor that cannot be written is exit 6 before anything is measured") {
  if (access("/dev/fd/0", F_OK) != 0) return skip("/dev/fd, which leads to /proc/self/fd");
  const auto closed = short_run({"--json", "/dev/fd/77"});
  CHECK(closed.exit_code == 6);
  CHECK(has(closed.err, "/dev/fd/77"));
  CHECK(closed.out.empty());
  const auto read_only = shell_run("--json /dev/fd/0");
  CHECK(read_only.exit_code == 6);
  CHECK(has(read_only.err, "not open for writing"));
}

TEST_CASE("a symbolic link stays, and the file that it points to is replaced or made") {
  const TemporaryFolder folder;
  const std::string target = folder.write("elsewhere/report.json", std::string("old"));
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("elsewhere/report.json", folder.path("present"));
  fs::create_symlink("elsewhere/new.json", folder.path("dangling"));
  CHECK(short_run({"--json", folder.path("present")}).exit_code == 0);
  CHECK(short_run({"--json", folder.path("dangling")}).exit_code == 0);
  CHECK(fs::is_symlink(folder.path("present")));
  CHECK(fs::is_symlink(folder.path("dangling")));
  CHECK(is_report(read_file(target)));
  CHECK(is_report(read_file(folder.path("elsewhere/new.json"))));
  CHECK(fs::status(target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK_FALSE(has_temporaries(folder.path("elsewhere")));
}

TEST_CASE("--json and --out may name the same file, unless two reports would share it") {
  const TemporaryFolder folder;
  const auto same = short_run({"--json", folder.path("./report.json"), "--out", folder.path()});
  CHECK(same.exit_code == 0);
  CHECK(is_report(read_file(folder.path("report.json"))));
  CHECK(has(read_file(folder.path("report.txt")), "step alone (ceiling)"));
  CHECK(entries_in(folder.path()) == report_formats().size());
  const json blocks = json::parse(read_file(folder.path("cachebisect.pt.trace.json")));
  CHECK_FALSE(trace_events_named(blocks, "step alone").empty());
  const auto other = short_run({"--json", folder.path("report.txt"), "--out", folder.path()});
  CHECK(other.exit_code == 2);
  CHECK(has(other.err, "two different reports"));
}

TEST_CASE("each format goes to its file, and standard output takes one of them") {
  const TemporaryFolder folder;
  std::vector<std::string> options{"--quiet"};
  for (const ReportFormat& format : report_formats()) {
    if (format.option.empty()) continue;
    options.insert(options.end(),
                   {std::string(format.option), folder.path(std::string(format.file))});
  }
  CHECK(short_run(options).exit_code == 0);
  CHECK(is_report(read_file(folder.path("report.json"))));
  CHECK(has(read_file(folder.path("report.csv")), ",starved,"));
  CHECK(has(read_file(folder.path("report.yaml")), "command: \"bisect\""));
  CHECK(has(read_file(folder.path("report.prom")), "{pipeline=\"starved\"}"));
  const json trace = json::parse(read_file(folder.path("cachebisect.pt.trace.json")));
  CHECK_FALSE(trace_events_named(trace, "step alone").empty());
  CHECK(short_run({"--csv", "-"}).out.starts_with("started,pipeline,"));
  const auto both = short_run({"--csv", "-", "--json", "-"});
  CHECK(both.exit_code == 2);
  CHECK(has(both.err, "--json and --csv would both be written to standard output"));
  const auto one = short_run({"--csv", folder.path("one"), "--yaml", folder.path("one")});
  CHECK(one.exit_code == 2);
  CHECK(has(one.err, "two different reports"));
  const auto unwritable = short_run({"--yaml", folder.path("missing/report.yaml")});
  CHECK(unwritable.exit_code == 6);
  CHECK(unwritable.out.empty());
}

TEST_CASE("--out makes its folder, and leaves none if nothing is written into it") {
  const TemporaryFolder folder;
  CHECK(short_run({"--quiet", "--out", folder.path("a/b")}).exit_code == 0);
  CHECK(is_report(read_file(folder.path("a/b/report.json"))));
  const auto failed = short_run({"--out", folder.path("c/d"), "--set", "batch_size=0"});
  CHECK(failed.exit_code == 2);
  CHECK_FALSE(fs::exists(folder.path("c")));
  const std::string file = folder.write("file", std::string("kept"));
  CHECK(short_run({"--out", file}).exit_code == 6);
  CHECK(short_run({"--out", file + "/below"}).exit_code == 6);
  CHECK(read_file(file) == "kept");
}

TEST_CASE("--format markdown writes the page to paste, and nothing else, to standard output") {
  const TemporaryFolder folder;
  const auto page = short_run({"--format", "markdown", "--csv", folder.path("report.csv")});
  CHECK(page.exit_code == 0);
  CHECK(page.out.starts_with("## Input pipeline starved\n\n**"));
  CHECK(has(page.out, "| step alone (ceiling) |"));
  CHECK(page.out.ends_with("```\n"));
  CHECK(short_run({"--format", "markdown", "--quiet"}).out.empty());
  const auto both = short_run({"--format", "markdown", "--json", "-"});
  CHECK(both.exit_code == 2);
  CHECK(has(both.err, "--format markdown and --json would both be written to standard output"));
  CHECK(short_run({"--format", "html"}).exit_code == 2);
}

TEST_CASE("--explain is in the page to paste and in the files that people read") {
  const TemporaryFolder folder;
  const auto page = short_run({"--format", "markdown", "--explain", "--out", folder.path()});
  CHECK(page.exit_code == 0);
  CHECK(has(page.out, "\n### What the numbers mean\n"));
  CHECK(page.out == read_file(folder.path("report.md")));
  CHECK(has(read_file(folder.path("report.txt")), "\nWhat the numbers mean\n"));
}

TEST_CASE("a reader that has exited costs its own output, not the others") {
  const TemporaryFolder folder;
  const auto result =
      shell_run("--json " + folder.path("report.json") + " 2>" + folder.path("err") + " | true");
  CHECK(result.exit_code == 0);  // of `true`
  CHECK(is_report(read_file(folder.path("report.json"))));
  CHECK(has(read_file(folder.path("err")), "standard output could not be written"));
}

TEST_CASE("a report that is larger than a file may be is an error, and nothing is left of it") {
  const TemporaryFolder folder;
  const std::string report = folder.path("report.json");
  const auto result = run({"sh", "-c",
                           "ulimit -f 8; exec " CACHEBISECT_BINARY_DIR
                           "/bin/cachebisect --pipeline - --budget 0.5 --no-explain --quiet "
                           "--no-progress --json " +
                               report},
                          starved_pipeline());
  CHECK(result.exit_code == 6);
  CHECK(has(result.err, report));
  CHECK_FALSE(fs::exists(report));
  CHECK_FALSE(has_temporaries(folder.path()));
}

TEST_CASE("the temporary file of a killed process is removed by the next run") {
  const TemporaryFolder folder;
  folder.write(".cachebisect-1-2.tmp", "half a report");  // Nobody has locked it any more.
  const std::string report = folder.path("report.json");
  CHECK(short_run({"--json", report}).exit_code == 0);
  CHECK(is_report(read_file(report)));
  CHECK(entries_in(folder.path()) == 1);
}

TEST_CASE("temporary files that are in use, and other files, stay") {
  const TemporaryFolder folder;
  const std::string used = folder.write(".cachebisect-1-2.tmp", "half a report");
  const int lock = open(used.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const std::string other = folder.write(".cachebisect-notes", "");
  const std::string link = folder.path(".cachebisect-link.tmp");
  fs::create_symlink(other, link);
  CHECK(short_run({"--json", folder.path("report.json")}).exit_code == 0);
  CHECK(read_file(used) == "half a report");
  CHECK(fs::exists(other));
  CHECK(fs::is_symlink(link));
  close(lock);
  CHECK(short_run({"--json", folder.path("report.json")}).exit_code == 0);
  CHECK_FALSE(fs::exists(used));
  CHECK(fs::exists(other));
}

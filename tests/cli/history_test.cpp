// --append FILE and `history FILE`.
#include <algorithm>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

const std::vector<std::string> kShortRun{"--pipeline", "-", "--budget", "0.5", "--no-explain"};

CommandResult appending_run(const std::string& file, std::vector<std::string> options = {}) {
  options.insert(options.begin(), kShortRun.begin(), kShortRun.end());
  options.insert(options.end(), {"--append", file});
  return run_tool(options, starved_pipeline());
}

auto lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace

TEST_CASE("each run adds a line, and history shows them") {
  const TemporaryFolder folder;
  const std::string file = folder.path("runs.jsonl");
  const CommandResult first = appending_run(file);
  CHECK(first.exit_code == 0);
  CHECK(has(first.out, "added to: " + file));
  // What a killed writer left.
  folder.write("runs.jsonl", read_file(file) + R"({"schema_version": 1, "sta)");
  CHECK(appending_run(file, {"--json", "-"}).exit_code == 0);
  CHECK(lines_in(read_file(file)) == 3);
  const CommandResult shown = run_tool({"history", file});
  CHECK(shown.exit_code == 0);
  CHECK(has(shown.out, "starved: device emulated, batch 16, 2 runs"));
  CHECK(has(shown.err, file + ":2:1:27: not JSON"));
  CHECK(has(shown.err, "left out"));
}

TEST_CASE("a history that cannot be written is exit 6 before anything is measured") {
  const TemporaryFolder folder;
  const CommandResult missing = appending_run(folder.path("none/runs.jsonl"));
  CHECK(missing.exit_code == 6);
  CHECK(missing.out.empty());
  CHECK(appending_run(folder.path()).exit_code == 6);
  CHECK(appending_run("-").exit_code == 2);
  const std::string file = folder.path("both");
  CHECK(appending_run(file, {"--json", file}).exit_code == 2);
  CHECK(entries_in(folder.path()) == 0);
}

TEST_CASE("a full disk leaves the history as it was, and the answer on standard output") {
  const TemporaryFolder folder;
  const std::string before = R"({"schema_version": 1})" + std::string(900, ' ') + "\n";
  const std::string file = folder.write("runs.jsonl", before);
  const auto limited = run({"sh", "-c",
                            "trap '' XFSZ; ulimit -f 2; " CACHEBISECT_BINARY_DIR
                            "/bin/cachebisect --pipeline - --budget 0.5 --no-explain --append " +
                                folder.write("runs.jsonl", before + before.substr(0, 100) + "\n")},
                           starved_pipeline());
  CHECK(limited.exit_code == 6);
  CHECK(has(limited.out, "starved"));
  CHECK(read_file(file) == before + before.substr(0, 100) + "\n");
  if (const auto lacking = lacking_writable("/dev/full")) return skip(*lacking);
  const CommandResult full = appending_run("/dev/full");
  CHECK(full.exit_code == 6);
  CHECK(has(full.out, "starved"));
}

TEST_CASE("history of no file, and of a file without runs") {
  const TemporaryFolder folder;
  CHECK(run_tool({"history", folder.path("none")}).exit_code == 2);
  const CommandResult empty = run_tool({"history", folder.write("empty", "")});
  CHECK(empty.exit_code == 0);
  CHECK(empty.out == "no runs\n");
}

TEST_CASE("the page of a history is written whole or not at all, next to the text") {
  const TemporaryFolder folder;
  const std::string file = folder.path("runs.jsonl");
  REQUIRE(appending_run(file).exit_code == 0);
  const std::string page = folder.path("trend.html");
  const CommandResult shown = run_tool({"history", file, "--html", page});
  CHECK(shown.exit_code == 0);
  CHECK(has(shown.out, "starved: device emulated, batch 16, 1 run"));
  CHECK(has(read_file(page), "starved: device emulated, batch 16, 1 run"));
  CHECK(read_file(page).ends_with("</html>\n"));
  CHECK(run_tool({"history", file, "--html", "-"}).out == read_file(page));
  CHECK(run_tool({"history", folder.path("none"), "--html", page}).exit_code == 2);
  CHECK(read_file(page).ends_with("</html>\n"));
}

TEST_CASE("a page that cannot be written is exit 6; one that would replace its history is exit 2") {
  const TemporaryFolder folder;
  const std::string file = folder.path("runs.jsonl");
  REQUIRE(appending_run(file).exit_code == 0);
  const CommandResult missing = run_tool({"history", file, "--html", folder.path("none/t.html")});
  CHECK(missing.exit_code == 6);
  CHECK(missing.out.empty());
  const std::string before = read_file(file);
  const CommandResult same = run_tool({"history", file, "--html", folder.path("./runs.jsonl")});
  CHECK(same.exit_code == 2);
  CHECK(has(same.err, "would replace the history"));
  CHECK(read_file(file) == before);
  CHECK(entries_in(folder.path()) == 1);
  if (const auto lacking = lacking_writable("/dev/full")) return skip(*lacking);
  const CommandResult full = run_tool({"history", file, "--html", "/dev/full"});
  CHECK(full.exit_code == 6);
  CHECK(has(full.out, "starved"));
}

// README.md, CONTRIBUTING.md and docs/ are true: commands run and print reports like those shown,
// code is that of the examples, JSON is a pipeline file, generated pages are up to date.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/all_stages.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace fs = std::filesystem;
using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kSource = CACHEBISECT_SOURCE_DIR;

struct CodeBlock {
  std::string file;
  std::string language;
  std::string text;
};

std::vector<std::string> pages() {
  std::vector<std::string> all{kSource + "/README.md", kSource + "/CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kSource + "/docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<CodeBlock> code_blocks(const std::string& language) {
  std::vector<CodeBlock> blocks;
  for (const std::string& page : pages()) {
    std::istringstream lines(read_file(page));
    bool inside = false;
    CodeBlock block;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("```")) {
        if (inside && block.language == language) blocks.push_back(block);
        inside = !inside;
        block = {page, line.substr(3), ""};
      } else if (inside) {
        block.text += line + "\n";
      }
    }
  }
  return blocks;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// The parts of a report that do not depend on the machine: the chain's name and device, and a table
// from the ceiling to the live pipeline; of doctor, what it checks. Which stages have their own
// rows depends on the noise.
std::vector<std::string> steady_parts(const std::string& text) {
  std::vector<std::string> parts;
  std::string last_row;
  const std::set<std::string> labels{"system", "device", "memory", "timers",
                                     "files",  "noise",  "load",   "floor"};
  const bool doctor = text.starts_with("machine ");
  for (const std::string& line : lines_of(text)) {
    if (parts.empty()) parts.push_back(line.substr(0, line.find("  ")));
    if (doctor && labels.contains(line.substr(0, line.find(' ')))) {
      parts.push_back(line.substr(0, line.find(' ')));
    }
    if (line.starts_with("Storage of ")) parts.push_back(line.substr(0, line.find(',')));
    if (!doctor && line.starts_with("device ")) parts.push_back(line.substr(0, line.find(',')));
    if (line.starts_with("step alone")) parts.push_back(line.substr(0, line.find("  ")));
    if (line.starts_with("+ ")) last_row = line.substr(0, line.find("  "));
  }
  const std::size_t end = last_row.rfind(" = live");
  if (end != std::string::npos) parts.push_back(last_row.substr(end));
  return parts;
}

// What measures until it is certain does so for seconds: a report has the same parts then.
std::string for_seconds(const std::string& command) {
  const bool bisects = command.starts_with("cachebisect --pipeline ");
  const bool compares = command.starts_with("cachebisect compare --run ");
  if (!bisects && !compares && !command.starts_with("cachebisect tune ")) return command;
  static const std::regex kBudget(" --budget [0-9.]+");
  return std::regex_replace(command, kBudget, "") + " --budget 5" +
         (bisects ? " --sustain 0.5" : "");
}

// A command as the shell would see it, with the tool of this build.
CommandResult run_shown(const std::string& command) {
  const std::string tools = CACHEBISECT_BINARY_DIR "/bin";
  return run({"sh", "-c", "cd " + kSource + " && PATH=" + tools + ":$PATH " + command});
}

}  // namespace

TEST_CASE("the commands in the documents run and print reports like those shown") {
  // Generated data sets are kept in the build tree between runs.
  setenv("XDG_CACHE_HOME", CACHEBISECT_BINARY_DIR "/cache", 1);
  int ran = 0;
  for (const CodeBlock& block : code_blocks("console")) {
    CAPTURE(block.file);
    std::string command;
    std::string shown;
    for (const std::string& line : lines_of(block.text)) {
      if (line.starts_with("$ ")) {
        CHECK_MESSAGE(command.empty(),
                      "one command per console block, so that its output can be checked");
        command = line.substr(2);
      } else {
        shown += line + "\n";
      }
    }
    if (!command.starts_with("cachebisect")) continue;
    CAPTURE(command);
    const auto result = run_shown(for_seconds(command));
    ++ran;
    CHECK(result.exit_code == 0);
    // Nothing of it is measured.
    if (command.starts_with("cachebisect chunks")) CHECK(lines_of(result.out) == lines_of(shown));
    CHECK_MESSAGE(steady_parts(result.out) == steady_parts(shown), result.out << result.err);
  }
  CHECK(ran >= 2);
}

TEST_CASE("the C++ code in the documents is that of an example, line by line") {
  const std::vector<std::string> sources{
      read_file(kSource + "/examples/custom_pipeline/main.cpp"),
      read_file(kSource + "/examples/builtin_stage/augment_invert.cpp"),
      read_file(kSource + "/examples/stage_plugin/plugin.cpp"),
      read_file(kSource + "/examples/consumer/main.cpp")};
  for (const CodeBlock& block : code_blocks("cpp")) {
    CAPTURE(block.file);
    const std::vector<std::string> shown = lines_of(block.text);
    const bool found = std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
      const std::vector<std::string> lines = lines_of(source);
      return std::search(lines.begin(), lines.end(), shown.begin(), shown.end()) != lines.end();
    });
    CHECK_MESSAGE(found, block.text);
  }
}

TEST_CASE("the JSON in the documents is a pipeline file or a stage of one") {
  const SpecPaths paths{.base_folder = ".", .cache_folder = "/tmp"};
  for (const CodeBlock& block : code_blocks("json")) {
    CAPTURE(block.file);
    CAPTURE(block.text);
    const auto json = nlohmann::json::parse(block.text);
    if (json.contains("use")) {
      const StageType& type = all_stages().stage(json["use"].get<std::string>());
      CHECK_NOTHROW(static_cast<void>(parse_stage(block.text, type, paths)));
    } else {
      CHECK_NOTHROW(static_cast<void>(parse_pipeline(block.text, block.file, all_stages(), paths)));
    }
  }
}

TEST_CASE("every ready pipeline parses") {
  int count = 0;
  for (const char* const folder : {"/pipelines", "/bench/pipelines"}) {
    for (const auto& entry : fs::directory_iterator(kSource + folder)) {
      CAPTURE(entry.path().string());
      CHECK_NOTHROW(static_cast<void>(load_pipeline(entry.path().string(), all_stages())));
      ++count;
    }
  }
  CHECK(count >= 5);
}

TEST_CASE("docs/use/stages.md is what the tool prints") {
  CHECK(run_shown("cachebisect stages --markdown").out ==
        read_file(kSource + "/docs/use/stages.md"));
}

TEST_CASE("links between the documents point to existing files") {
  for (const std::string& page : pages()) {
    const std::string text = read_file(page);
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of(")#", at) - at - 2);
      // A lambda in a code block looks like a link; a link has no spaces.
      if (target.empty() || has(target, "://") || has(target, " ")) continue;
      CAPTURE(page);
      CAPTURE(target);
      CHECK(fs::exists(fs::path(page).parent_path() / target));
    }
  }
}

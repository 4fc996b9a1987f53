// Runs of the tool that are interrupted at a line of their log.
#pragma once

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace cachebisect::test {

/// Steps so long that a phase takes far longer than a check of the log.
inline constexpr int kLongMicroseconds = 1500;

/// Sends `signal` once `mark` appears in the log.
inline During signal_at(std::string mark, int signal) {
  return [mark = std::move(mark), signal](pid_t child, const std::string& log) {
    await_text(log, [&](const std::string& text) { return has(text, mark); });
    kill(child, signal);
  };
}

inline bool leftovers(const std::string& folder) {
  const std::filesystem::recursive_directory_iterator all(folder);
  return std::any_of(begin(all), end(all),
                     [](const auto& entry) { return has(entry.path().string(), ".tmp"); });
}

struct Interrupted {
  int exit_code = 0;
  std::string out;
  nlohmann::json report;
  std::string text;
  bool leftovers = false;
};

inline Interrupted interrupt(const std::string& mark, int signal,
                             std::vector<std::string> more = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> words{
      "--pipeline",  folder.write("p.json", starved_pipeline(kLongMicroseconds)),
      "--budget",    "600",
      "--log-level", "debug",
      "--out",       folder.path()};
  words.insert(words.end(), more.begin(), more.end());
  const auto result = run_tool(words, "", signal_at(mark, signal));
  const std::string file = read_file(folder.path("report.json"));
  REQUIRE_MESSAGE(nlohmann::json::accept(file), result.err);
  return {result.exit_code, result.out, nlohmann::json::parse(file),
          read_file(folder.path("report.txt")), leftovers(folder.path())};
}

}  // namespace cachebisect::test

// Runs of the tool on a script whose chain is simulated: all of it in virtual time, so that
// verdicts hold on any machine at any load.
#pragma once

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <nlohmann/json.hpp>

namespace cachebisect::test {

inline const std::string kFakeScript = CACHEBISECT_BINARY_DIR "/tests/fake_adapter";

struct ScriptRun {
  CommandResult result;
  nlohmann::json report;  ///< null if none was written
  std::string hook;
  std::string text{};  ///< report.txt
  std::string page{};  ///< report.html
};

/// `run` with `options` of the fake script in this mode (support/fake_adapter_main.cpp); `before`
/// stands before the command, as env does with variables.
inline ScriptRun run_script(const std::string& mode, const std::vector<std::string>& options = {},
                            const During& during = {}, std::vector<std::string> before = {}) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("hook"));
  folder.write("hook/sitecustomize.py", "");
  std::vector<std::string> words = std::move(before);
  words.insert(words.end(), {CACHEBISECT_BINARY_DIR "/bin/cachebisect", "run", "--hook",
                             folder.path("hook"), "--out", folder.path()});
  const bool sustains = std::ranges::find(options, "--sustain") != options.end();
  if (!sustains) words.insert(words.end(), {"--sustain", "0"});
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", kFakeScript, mode});
  ScriptRun script{run(words, "", during), {}, folder.path("hook")};
  const std::string report = read_file(folder.path("report.json"));
  if (nlohmann::json::accept(report)) script.report = nlohmann::json::parse(report);
  script.text = read_file(folder.path("report.txt"));
  script.page = read_file(folder.path("report.html"));
  return script;
}

/// Sends `signal` to the tool once the script says that it falls silent.
inline During interrupt_at(const std::string& mark, int signal) {
  return [mark, signal](pid_t tool, const std::string& err) {
    await_text(err, [&](const std::string& text) { return has(text, mark); });
    kill(tool, signal);
  };
}

}  // namespace cachebisect::test

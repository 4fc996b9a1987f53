// A job of two machines on one: `run` with rank 0, and `join` with rank 1.
#pragma once

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/simulated_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace cachebisect::test {

inline const std::string kInvitation = "on each other node: ";

/// What `run` says: the token, if it has made one, and where it listens.
struct Invitation {
  std::string token;
  std::string address;
};

inline Invitation invitation_in(const std::string& log) {
  await_text(log, [](const std::string& text) { return has(text, kInvitation); });
  const std::string text = read_file(log);
  const auto between = [&](const std::string& before, const std::string& after) {
    const std::size_t at = text.find(before);
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
  };
  return {between("CACHEBISECT_TOKEN=", " "), between("cachebisect join ", " ")};
}

inline std::vector<std::string> join_words(const Invitation& invitation, const std::string& hook,
                                           const std::string& mode,
                                           const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"env",
                                 "CACHEBISECT_TOKEN=" + invitation.token,
                                 "RANK=1",
                                 "WORLD_SIZE=2",
                                 CACHEBISECT_BINARY_DIR "/bin/cachebisect",
                                 "join",
                                 invitation.address,
                                 "--hook",
                                 hook,
                                 "--name",
                                 "b"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", kFakeScript, mode});
  return words;
}

struct TwoNodes {
  ScriptRun first;
  CommandResult second;
};

/// Rank 0 in this mode next to `run`, rank 1 in that one next to `join`. `during`: of `run`, once
/// the other has been started. `joining`: options of `join`.
inline TwoNodes run_nodes(const std::string& first, const std::string& second,
                          std::vector<std::string> options = {}, const During& during = {},
                          const std::vector<std::string>& joining = {}) {
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  CommandResult joined;
  std::optional<std::jthread> other;
  options.insert(options.end(), {"--nodes", "2", "--address", "127.0.0.1", "--port", "0",  //
                                 "--name", "a"});
  const auto join = [&](pid_t tool, const std::string& log) {
    const Invitation invitation = invitation_in(log);
    other.emplace([&, words = join_words(invitation, folder.path(), second, joining)] {
      joined = run(words);
    });
    if (during) during(tool, log);
  };
  ScriptRun script = run_script(first, options, join, {"env", "RANK=0", "WORLD_SIZE=2"});
  other.reset();
  return {std::move(script), joined};
}

}  // namespace cachebisect::test

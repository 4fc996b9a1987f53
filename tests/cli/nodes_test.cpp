// `run --nodes` and `join`: a job of two machines, both of which are this one.
#include <csignal>
#include <string>
#include <vector>

#include "cli/two_nodes.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;

TEST_CASE("two machines are measured together, and the slow one is named") {
  const TwoNodes nodes = run_nodes("fast", "slow");
  CAPTURE(nodes.first.result.err);
  CHECK(nodes.first.result.exit_code == 0);
  CHECK(has(nodes.first.text, "node b, rank 1, decode costs"));
  CHECK(nodes.first.report["verdict"]["rank"] == 1);
  CHECK(nodes.first.report["pipeline"]["nodes"].size() == 2);
  CHECK(has(nodes.first.page, "node b, rank 1"));
  CHECK(nodes.second.exit_code == 0);
  CHECK(has(nodes.first.result.err, "finish exit"));
  CHECK(has(nodes.second.err, "finish exit"));
}

TEST_CASE("the other machines end as the first does") {
  const TwoNodes nodes = run_nodes("fast", "slow", {"--fail-on", "drop"});
  CHECK(nodes.first.result.exit_code == 5);
  CHECK(nodes.second.exit_code == 5);
}

TEST_CASE("with --then continue each machine trains on to its own end") {
  const TwoNodes nodes = run_nodes("fast", "slow", {"--then", "continue"});
  CHECK(has(nodes.second.err, "finish continue"));
  CHECK(nodes.second.exit_code == 3);  // The script's own failure.
}

TEST_CASE("a rank that dies on another machine is named, and what was measured is kept") {
  const TwoNodes nodes = run_nodes("fast", "dies");
  CHECK(nodes.first.result.exit_code == 3);
  CHECK(has(nodes.first.result.err, "node b, rank 1"));
  CHECK(nodes.first.report["interrupted"] == true);
  CHECK(nodes.second.exit_code != 0);
}

TEST_CASE("commands that could not be told are ended, not waited for") {
  const TwoNodes nodes = run_nodes("fast", "deaf", {"--answer-timeout", "1"}, {}, {"--grace", "1"});
  CHECK(nodes.first.result.exit_code == 3);
  CHECK(nodes.second.exit_code == 3);
}

TEST_CASE("Ctrl-C ends the commands on all machines") {
  const TwoNodes nodes =
      run_nodes("silent-explain", "silent-explain", {}, interrupt_at("silent phase", SIGINT));
  CHECK(nodes.first.result.exit_code == 130);
  CHECK(nodes.second.exit_code == 130);
}

TEST_CASE("where the node that measures is killed, training goes on") {
  const TwoNodes nodes =
      run_nodes("silent-explain", "silent-explain", {}, interrupt_at("silent phase", SIGKILL));
  CHECK(nodes.first.result.exit_code == 128 + SIGKILL);
  CHECK(has(nodes.second.err, "training goes on"));
  CHECK(nodes.second.exit_code == 0);
}

TEST_CASE("a node without the token is turned away, and is missed") {
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  CommandResult joined;
  const auto join = [&](pid_t, const std::string& log) {
    Invitation invitation = invitation_in(log);
    invitation.token = "a token that was guessed";
    joined = run(join_words(invitation, folder.path(), "ok"));
  };
  const ScriptRun script = run_script(
      "silent", {"--nodes", "2", "--address", "127.0.0.1", "--port", "0", "--join-timeout", "3"},
      join);
  CHECK(joined.exit_code == 2);
  CHECK(has(joined.err, "wrong token"));
  CHECK(script.result.exit_code == 2);
  CHECK(has(script.result.err, "only 0 of 1 other nodes have joined within 3.0 s"));
}

TEST_CASE("what cannot join says so before it starts anything") {
  const auto error = [](std::vector<std::string> words, const std::string& token) {
    words.insert(words.begin(), {"env", "CACHEBISECT_TOKEN=" + token,
                                 CACHEBISECT_BINARY_DIR "/bin/cachebisect", "join"});
    const CommandResult result = run(words);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const std::string token = "0123456789abcdef";
  CHECK(has(error({"127.0.0.1:1"}, token), "nothing to train"));
  CHECK(has(error({"127.0.0.1", "--", "true"}, token), "HOST:PORT"));
  CHECK(has(error({"127.0.0.1:1", "--", "true"}, ""), "CACHEBISECT_TOKEN is not set"));
  CHECK(has(error({"127.0.0.1:1", "--", "true"}, "short"), "at least 16 characters"));
  CHECK(has(error({"127.0.0.1:1", "--name", "a b", "--", "true"}, token), "the name of a node"));
  CHECK(has(error({"127.0.0.1:1", "--join-timeout", "0.2", "--", "true"}, token),
            "127.0.0.1:1 is not reached within"));
}

TEST_CASE("a token in the environment is used, and not printed") {
  const CommandResult result =
      run({"env", "CACHEBISECT_TOKEN=0123456789abcdef", CACHEBISECT_BINARY_DIR "/bin/cachebisect",
           "run", "--hook", CACHEBISECT_SOURCE_DIR "/python/cachebisect/_hook", "--nodes", "2",
           "--address", "127.0.0.1", "--port", "0", "--join-timeout", "0.2", "--", "sleep", "60"});
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, kInvitation + "cachebisect join 127.0.0.1:"));
  CHECK_FALSE(has(result.err, "0123456789abcdef"));
}

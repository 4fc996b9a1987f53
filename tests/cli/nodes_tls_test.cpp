// `run --nodes` and `join` with --cert: what is said between the machines goes over TLS.
#include <csignal>
#include <string>
#include <vector>

#include "cli/two_nodes.hpp"
#include "support/certificates.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

TEST_CASE("with --cert the other machines connect by TLS") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  const TwoNodes nodes =
      run_nodes("fast", "slow", {"--cert", certificate.file(), "--key", certificate.key()}, {},
                {"--cert", certificate.file()});
  CAPTURE(nodes.first.result.err);
  CAPTURE(nodes.second.err);
  CHECK(nodes.first.result.exit_code == 0);
  CHECK(nodes.second.exit_code == 0);
  CHECK(has(nodes.first.text, "node b, rank 1, decode costs"));
  CHECK(has(nodes.first.result.err, " --cert FILE -- CMD"));
  CHECK(has(nodes.second.err, "finish exit"));
}

TEST_CASE("a machine that does not trust the certificate does not join, nor does one without TLS") {
  const Certificate certificate;
  const Certificate other;
  if (!certificate.is_usable() || !other.is_usable()) return;
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  CommandResult untrusted;
  CommandResult plain;
  const auto join = [&](pid_t tool, const std::string& log) {
    const Invitation invitation = invitation_in(log);
    untrusted = run(join_words(invitation, folder.path(), "ok", {"--cert", other.file()}));
    plain = run(join_words(invitation, folder.path(), "ok"));
    kill(tool, SIGINT);
  };
  run_script("silent",
             {"--nodes", "2", "--address", "127.0.0.1", "--port", "0", "--cert", certificate.file(),
              "--key", certificate.key()},
             join);
  CHECK(untrusted.exit_code == 2);
  CHECK(has(untrusted.err, "its certificate is not trusted: self-signed certificate"));
  CHECK(plain.exit_code == 2);
  CHECK(has(plain.err, "If it has --cert, give it here too"));
}

TEST_CASE("a certificate that cannot be used ends `run` and `join` at once") {
  const Certificate certificate;
  const Certificate other;
  if (!certificate.is_usable() || !other.is_usable()) return;
  const auto error = [](std::vector<std::string> words, const std::vector<std::string>& options,
                        const std::vector<std::string>& before = {}) {
    words.insert(words.begin(), CACHEBISECT_BINARY_DIR "/bin/cachebisect");
    words.insert(words.begin(), before.begin(), before.end());
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "true"});
    const CommandResult result = run(words);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const std::vector<std::string> first{
      "run",       "--hook", CACHEBISECT_SOURCE_DIR "/python/cachebisect/_hook",
      "--nodes",   "2",      "--address",
      "127.0.0.1", "--port", "0"};
  const std::vector<std::string> second{"join", "127.0.0.1:1"};
  const std::vector<std::string> token{"env", "CACHEBISECT_TOKEN=0123456789abcdef"};
  CHECK(has(error(first, {"--cert", "no-such.pem"}), "--cert no-such.pem: No such file"));
  CHECK(has(error(first, {"--cert", certificate.file()}), "as --key"));
  CHECK(has(error(first, {"--cert", certificate.file(), "--key", other.key()}),
            "--key " + other.key() + ": key values mismatch"));
  CHECK(has(error(first, {"--key", certificate.key()}), "--cert"));
  CHECK(has(error(first, {"--cert", ""}), "a PEM file is needed"));
  CHECK(has(error(second, {"--cert", "no-such.pem"}, token), "--cert no-such.pem: No such file"));
  CHECK(has(error(second, {"--cert", ""}, token), "a PEM file is needed"));
  const TemporaryFolder folder;
  folder.write("libssl.so.3", "no library");
  const std::string lacking =
      error(first, {"--cert", certificate.file()}, {"env", "LD_LIBRARY_PATH=" + folder.path()});
  CHECK(has(lacking, "OpenSSL cannot be opened: "));
  CHECK(has(lacking, "install it (Debian's libssl3)"));
}

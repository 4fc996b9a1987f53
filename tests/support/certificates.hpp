// Certificates that the command openssl makes for a test.
#pragma once

#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/tls.hpp"

namespace cachebisect::test {

/// One for a name ("DNS:...") or a number ("IP:..."), which another has signed or itself; gone with
/// this object.
class Certificate {
 public:
  explicit Certificate(const std::string& host = "IP:127.0.0.1",
                       const Certificate* signer = nullptr) {
    std::vector<std::string> words{"openssl",
                                   "req",
                                   "-x509",
                                   "-newkey",
                                   "ec",
                                   "-pkeyopt",
                                   "ec_paramgen_curve:prime256v1",
                                   "-nodes",
                                   "-days",
                                   "2",
                                   "-subj",
                                   "/CN=" + host,
                                   "-addext",
                                   "subjectAltName=" + host,
                                   "-keyout",
                                   key(),
                                   "-out",
                                   file()};
    if (signer != nullptr) {
      words.insert(words.end(), {"-CA", signer->file(), "-CAkey", signer->key()});
    }
    const CommandResult made = run(words);
    if (made.exit_code == 127) {
      skip("the command openssl");
      return;
    }
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
    try {
      static_cast<void>(tls_of_relay(file()));
      usable_ = true;
    } catch (const Error& error) {
      const std::string text = error.what();
      CAPTURE(text);
      REQUIRE((has(text, "built without TLS") || has(text, "cannot be opened")));
      skip("a build with TLS, and OpenSSL 3");
    }
  }
  /// False: the test is skipped.
  [[nodiscard]] bool is_usable() const { return usable_; }
  [[nodiscard]] std::string file() const { return folder_.path("cert.pem"); }
  [[nodiscard]] std::string key() const { return folder_.path("key.pem"); }

 private:
  TemporaryFolder folder_;
  bool usable_ = false;
};

}  // namespace cachebisect::test

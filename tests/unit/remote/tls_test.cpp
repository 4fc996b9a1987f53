// TLS on a socket: bytes arrive whole, nothing waits, and no other certificate is trusted.
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "support/certificates.hpp"
#include "support/errors.hpp"
#include "support/random_bytes.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/socket.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/remote/message_channel.hpp"
#include "cachebisect/remote/socket_stream.hpp"
#include "cachebisect/remote/wait.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// Both ends of a connection in one thread.
struct TlsPair {
  SocketStream relay;
  SocketStream engine;
};

TlsPair tls_pair(const Tls& relay, const Tls& engine, const std::string& host = "127.0.0.1") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  for (const int end : ends) {
    const int bytes = 4096;  // Of a socket that takes less than a record.
    ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
  }
  return {SocketStream(FileDescriptor(ends[0]), &relay, host),
          SocketStream(FileDescriptor(ends[1]), &engine)};
}

/// True once `result` is that of a call which has done something, or has failed.
bool has_ended(ssize_t result) { return result >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK); }

/// Whether both sides agree.
bool agree(TlsPair& pair) {
  bool relay = false;
  bool engine = false;
  ssize_t of_relay = -1;
  ssize_t of_engine = -1;
  while (!relay || !engine) {
    if (!relay) relay = has_ended(of_relay = pair.relay.handshake());
    if (!engine) engine = has_ended(of_engine = pair.engine.handshake());
  }
  return of_relay == 1 && of_engine == 1;
}

TlsPair agreed_pair(const Certificate& certificate) {
  TlsPair pair = tls_pair(*tls_of_relay(certificate.file()),
                          *tls_of_engine(certificate.file(), certificate.key()));
  REQUIRE(agree(pair));
  return pair;
}

std::string random_text(std::size_t bytes) {
  std::string text(bytes, '\0');
  RandomStream random({.seed = 7});
  draw_bytes(random, std::as_writable_bytes(std::span(text)));
  return text;
}

/// What arrives of `text`, sent as the socket takes it.
std::string carried(SocketStream& from, SocketStream& to, const std::string& text) {
  std::string arrived;
  std::size_t taken = 0;
  std::array<char, kTlsRecordBytes> buffer{};
  while (arrived.size() < text.size()) {
    // Each time from a copy of its own, as after a string has grown.
    const std::string rest = text.substr(taken);
    const ssize_t count = rest.empty() ? 0 : from.send(rest.data(), rest.size());
    if (count > 0) taken += static_cast<std::size_t>(count);
    if (count < 0) REQUIRE(errno == EAGAIN);
    for (;;) {
      const ssize_t received = to.receive(buffer.data(), buffer.size());
      if (received < 0) REQUIRE(errno == EAGAIN);
      if (received <= 0) break;
      arrived.append(buffer.data(), static_cast<std::size_t>(received));
    }
  }
  return arrived;
}

/// Why the relay's side refuses the certificate.
std::string tls_refusal(const Certificate& engine, const Certificate& trusted,
                        const std::string& host) {
  TlsPair pair =
      tls_pair(*tls_of_relay(trusted.file()), *tls_of_engine(engine.file(), engine.key()), host);
  const bool agreed = agree(pair);
  const TlsFailure failure = pair.relay.failure();
  CHECK(agreed == failure.text.empty());
  CHECK(failure.untrusted != agreed);
  CHECK(pair.engine.failure().text.empty() == agreed);
  return failure.text;
}

}  // namespace

TEST_CASE("bytes arrive whole and in order in both directions, however little a socket takes") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  TlsPair pair = agreed_pair(certificate);
  const std::string text = random_text(300'000);
  CHECK(carried(pair.relay, pair.engine, text) == text);
  CHECK(carried(pair.engine, pair.relay, text) == text);
}

TEST_CASE("after a read without data, only what has not arrived is waited for") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  TlsPair pair = agreed_pair(certificate);
  MessageChannel sender(std::move(pair.engine));
  MessageChannel receiver(std::move(pair.relay));
  for (int i = 0; i < 5; ++i) REQUIRE(sender.send(std::to_string(i), 1));
  for (int i = 0; i < 5; ++i) {
    // One record at a time: the rest is for poll() to tell.
    REQUIRE_FALSE(wait_readable({receiver.descriptor()}, 0).empty());
    REQUIRE(receiver.read_available(0));
    CHECK(receiver.next() == std::to_string(i));
  }
  CHECK(wait_readable({receiver.descriptor()}, 0).empty());
}

TEST_CASE("the end of a connection is an end, and sending then fails") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  TlsPair pair = agreed_pair(certificate);
  pair.engine = {};
  std::array<char, kTlsRecordBytes> buffer{};
  CHECK(pair.relay.receive(buffer.data(), buffer.size()) == 0);
  CHECK(pair.relay.send("x", 1) < 0);
  CHECK(errno == EPIPE);
  CHECK(MessageChannel(std::move(pair.relay)).send("x", 1) == false);
}

TEST_CASE("nothing is sent before both sides have agreed") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  TlsPair pair = tls_pair(*tls_of_relay(certificate.file()),
                          *tls_of_engine(certificate.file(), certificate.key()));
  CHECK(pair.relay.send("token", 5) < 0);
  CHECK(errno == ENOTCONN);
  CHECK(wait_readable({pair.engine.descriptor()}, 0).empty());
}

TEST_CASE("bytes that another has put into the connection end it") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  TlsPair pair = agreed_pair(certificate);
  const std::string forged = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x');
  REQUIRE(::send(pair.engine.descriptor(), forged.data(), forged.size(), MSG_NOSIGNAL) == 37);
  std::array<char, kTlsRecordBytes> buffer{};
  CHECK(pair.relay.receive(buffer.data(), buffer.size()) < 0);
  CHECK(errno == EPROTO);
  CHECK_FALSE(pair.relay.failure().text.empty());
  CHECK_FALSE(pair.relay.failure().untrusted);
}

TEST_CASE("a certificate must be for the host, and one that is trusted") {
  const Certificate own;
  const Certificate other;
  const Certificate named("DNS:gpu-01");
  if (!own.is_usable() || !other.is_usable() || !named.is_usable()) return;
  CHECK(tls_refusal(own, own, "127.0.0.1").empty());
  CHECK(tls_refusal(named, named, "gpu-01").empty());
  CHECK(has(tls_refusal(own, other, "127.0.0.1"), "self-signed certificate"));
  CHECK(has(tls_refusal(own, own, "127.0.0.2"), "IP address mismatch"));
  CHECK(has(tls_refusal(own, own, "gpu-01"), "hostname mismatch"));
  CHECK(has(tls_refusal(named, named, "gpu-02"), "hostname mismatch"));
  const auto relay = tls_of_relay(own.file());
  const std::string odd = usage_error([&] { static_cast<void>(relay->begin(0, "127.1")); });
  CHECK(has(odd, "'127.1' cannot be the host of a certificate"));
}

TEST_CASE("what an authority has signed is trusted, by its certificate or by the own one") {
  const Certificate authority("DNS:authority");
  const Certificate other("DNS:authority");
  if (!authority.is_usable() || !other.is_usable()) return;
  const Certificate signed_one("DNS:gpu-01", &authority);
  CHECK(tls_refusal(signed_one, authority, "gpu-01").empty());
  CHECK(tls_refusal(signed_one, signed_one, "gpu-01").empty());
  CHECK_FALSE(tls_refusal(signed_one, other, "gpu-01").empty());
}

TEST_CASE("files that are no certificate and no key of it are named") {
  const Certificate own;
  const Certificate other;
  if (!own.is_usable() || !other.is_usable()) return;
  const auto engine = [](const std::string& certificate, const std::string& key) {
    return usage_error([&] { static_cast<void>(tls_of_engine(certificate, key)); });
  };
  CHECK(has(engine("no-such.pem", own.key()), "--cert no-such.pem: No such file or directory; "));
  CHECK(has(engine(own.key(), own.key()), "--cert " + own.key() + ": no start line; "));
  CHECK(has(engine(own.file(), "no-such.pem"), "--key no-such.pem: No such file or directory; "));
  CHECK(has(engine(own.file(), own.file()), "--key " + own.file() + ": "));
  CHECK(has(engine(own.file(), ""), "the key in --cert " + own.file() + ": "));
  const std::string mismatch = engine(own.file(), other.key());
  CHECK(has(mismatch, "--key " + other.key() + ": key values mismatch; "));
  CHECK(has(mismatch, "with the key of --cert " + own.file()));
  const TemporaryFolder folder;
  const std::string rsa = folder.path("rsa.pem");
  REQUIRE(run({"openssl", "genpkey", "-algorithm", "RSA", "-out", rsa}).exit_code == 0);
  CHECK(has(engine(own.file(), rsa), "--key " + rsa + ": "));
  const auto relay = [](const std::string& file) {
    return usage_error([&] { static_cast<void>(tls_of_relay(file)); });
  };
  CHECK(has(relay("no-such.pem"), "--cert no-such.pem: No such file or directory; "));
  CHECK(has(relay(own.key()), "--cert " + own.key() + ": "));
}

TEST_CASE("a key may be in the file of its certificate, and has no passphrase") {
  const Certificate own;
  if (!own.is_usable()) return;
  const TemporaryFolder folder;
  const std::string both = folder.write("both.pem", read_file(own.file()) + read_file(own.key()));
  CHECK_NOTHROW(static_cast<void>(tls_of_engine(both, "")));
  const std::string hidden = folder.path("hidden.pem");
  REQUIRE(run({"openssl", "pkey", "-in", own.key(), "-aes256", "-passout", "pass:secret", "-out",
               hidden})
              .exit_code == 0);
  CHECK(has(usage_error([&] { static_cast<void>(tls_of_engine(own.file(), hidden)); }),
            "without a passphrase"));
}

// TLS between the nodes of a job: where the token goes, and what happens if one side has no TLS.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "support/certificates.hpp"
#include "support/errors.hpp"
#include "support/served_nodes.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/socket.h>

#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/message_channel.hpp"
#include "cachebisect/remote/tcp_socket.hpp"
#include "cachebisect/remote/wait.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

NodeListenerOptions engine_with(const Certificate& certificate, double join_seconds = 60) {
  NodeListenerOptions options = node_options(1, join_seconds);
  options.tls = tls_of_engine(certificate.file(), certificate.key());
  return options;
}

NodeRelayOptions relay_to(const TcpAddress& engine, const Certificate* trusted) {
  NodeRelayOptions options{.engine = engine, .token = kToken, .node = "node-1"};
  options.answer_seconds = 120;
  if (trusted != nullptr) options.tls = tls_of_relay(trusted->file());
  return options;
}

/// How a relay fails to join these nodes, and what they say of it; "" if it joins.
struct TlsRefusal {
  std::string relay;
  std::string engine;
};

TlsRefusal join_error(const NodeListenerOptions& engine, const Certificate* trusted) {
  NodeListener nodes(engine);
  TlsRefusal said;
  std::atomic<bool> ended = false;
  std::jthread relay([&] {
    said.relay =
        error_of([&] { NodeRelay(relay_to(nodes.address(), trusted), PrivateFolder(), {}); });
    ended = true;
  });
  // After its time each serve() throws, and serves nevertheless.
  const auto is_told = [&] {
    return ended && (said.relay.empty() || has(said.engine, "the last connection"));
  };
  constexpr int kPatience = 12000;
  for (int i = 0; i < kPatience && !is_told(); ++i) {
    said.engine = error_of([&] { nodes.serve(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  relay.join();
  return said;
}

/// A server that answers a connection with one line, or nothing, and keeps what it was sent.
class PlainServer {
 public:
  explicit PlainServer(bool answers) : listener_(listen_tcp({"127.0.0.1", 0})) {
    thread_ = std::jthread([this, answers] {
      static_cast<void>(wait_readable({listener_.get()}, std::nullopt));
      MessageChannel channel(
          FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
      if (answers) static_cast<void>(channel.send("HTTP/1.1 400 Bad Request", 60));
      while (channel.read_available()) {
        static_cast<void>(wait_readable({channel.descriptor()}, std::nullopt));
      }
      received_ = channel.take_rest();
    });
  }
  [[nodiscard]] TcpAddress address() const { return {"127.0.0.1", port_of(listener_)}; }
  /// Once the other side has closed the connection.
  const std::string& received() {
    thread_.join();
    return received_;
  }

 private:
  FileDescriptor listener_;
  std::string received_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

TEST_CASE("a job is measured over TLS") {
  const Certificate certificate;
  if (!certificate.is_usable()) return;
  const SimulatedChain chain = chain_that_reads(1e-3);
  SimulatedReplayer first(chain, {.seed = 1});
  SimulatedReplayer second(chain, {.seed = 2});
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  NodeListener nodes(engine_with(certificate));
  ServedNode node(nodes, "node-1", {&first, &second}, 0, 2, {}, tls_of_relay(certificate.file()));
  AwaitResult found = await_adapter(listener, {.nodes = &nodes}, {});
  REQUIRE(found.adapters.size() == 2);
  nodes.close();
  const auto replayer = make_replayer(std::move(found.adapters), {}, nodes.own_name());
  CHECK(replayer->prepare({}, {}).samples > 0);
  replayer->begin_round();
  CHECK(replayer->run({.steps = 2}, {}).steps == 2);
  const std::string verdict(200'000, 'x');  // Many records.
  CHECK(replayer->finish(true, 5, verdict));
  nodes.finish({.exit = true, .exit_code = 5, .text = verdict, .told = true});
  node.join();
  CHECK(node.end == RelayEnd::finished);
  CHECK(node.finish.exit_code == 5);
  CHECK(node.finish.text == verdict);
}

TEST_CASE("an engine whose certificate is another's is refused, and both sides say so") {
  const Certificate own;
  const Certificate other;
  const Certificate elsewhere("IP:192.0.2.1");
  if (!own.is_usable() || !other.is_usable() || !elsewhere.is_usable()) return;
  CHECK(join_error(engine_with(own), &own).relay.empty());
  const TlsRefusal untrusted = join_error(engine_with(own, 0.01), &other);
  CAPTURE(untrusted.relay);
  CAPTURE(untrusted.engine);
  CHECK(has(untrusted.relay, "2: 127.0.0.1:"));
  CHECK(has(untrusted.relay, "its certificate is not trusted: self-signed certificate; "));
  CHECK(has(untrusted.relay, "--cert here must have that one"));
  CHECK(has(untrusted.engine, "2: only 0 of 1 other nodes have joined"));
  CHECK(has(untrusted.engine, "--cert FILE -- CMD"));
  CHECK(has(untrusted.engine, "the last connection that failed: no TLS: "));
  const TlsRefusal mismatch = join_error(engine_with(elsewhere, 0.01), &elsewhere);
  CAPTURE(mismatch.relay);
  CHECK(has(mismatch.relay, "not trusted: IP address mismatch; "));
  CHECK(has(mismatch.relay, "must be for 127.0.0.1"));
}

TEST_CASE("where one side alone has TLS, both say so") {
  const Certificate own;
  if (!own.is_usable()) return;
  const TlsRefusal plain_relay = join_error(engine_with(own, 0.01), nullptr);
  CAPTURE(plain_relay.relay);
  CAPTURE(plain_relay.engine);
  CHECK(has(plain_relay.relay, "2: 127.0.0.1:"));
  CHECK(has(plain_relay.relay, "If it has --cert, give it here too"));
  CHECK(has(plain_relay.engine, "(`cachebisect join` needs --cert, "));
  const TlsRefusal plain_engine = join_error(node_options(1, 0.01), &own);
  CAPTURE(plain_engine.relay);
  CAPTURE(plain_engine.engine);
  CHECK(has(plain_engine.relay, ": no TLS connection: "));
  CHECK(has(plain_engine.relay, "--cert here needs `cachebisect run --cert` there"));
  CHECK(has(plain_engine.engine, "it has begun TLS (`cachebisect run` needs --cert and --key"));
}

TEST_CASE("a relay with TLS does not tell its token to a server without it") {
  const Certificate own;
  if (!own.is_usable()) return;
  PlainServer server(true);
  const std::string message =
      usage_error([&] { NodeRelay(relay_to(server.address(), &own), PrivateFolder(), {}); });
  CAPTURE(message);
  CHECK(has(message, ": no TLS connection: "));
  const std::string& received = server.received();
  REQUIRE_FALSE(received.empty());
  CHECK(received[0] == '\x16');  // A record of a handshake.
  CHECK_FALSE(has(received, kToken));
}

TEST_CASE("a relay gives up a server that does not go on with the handshake") {
  const Certificate own;
  if (!own.is_usable()) return;
  PlainServer silent(false);
  NodeRelayOptions options = relay_to(silent.address(), &own);
  options.answer_seconds = 0.05;
  CHECK(has(usage_error([&] { NodeRelay(options, PrivateFolder(), {}); }),
            "no TLS connection: no answer; "));
}

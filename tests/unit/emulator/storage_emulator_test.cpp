// The server over its socket: what clients get, whatever they send. Counts and outcomes only.
#include "cachebisect/emulator/storage_emulator.hpp"

#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/http_socket.hpp"
#include "support/lacking.hpp"
#include "support/storage_settings.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;
using test::HttpReply;
using test::HttpSocket;
using test::TemporaryFolder;

namespace {

/// An emulator that serves a folder until its end.
class Served {
 public:
  explicit Served(const std::string& folder,
                  const StorageSettings& settings = test::unlimited_storage())
      : emulator_({.folder = folder, .storage = settings}),
        thread_([this] { totals_ = emulator_.serve(stop_.get_token()); }) {}
  ~Served() { end(); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  [[nodiscard]] int port() const {
    const std::string url = emulator_.url();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }
  EmulatorTotals end() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
    return totals_;
  }

 private:
  StorageEmulator emulator_;
  EmulatorTotals totals_;
  std::stop_source stop_;
  std::jthread thread_;
};

/// Why there is no server to test, as in a build without cpp-httplib.
bool lacks_server() {
#ifdef CACHEBISECT_WITH_HTTP_SERVER
  return false;
#else
  test::skip("cpp-httplib (libcpp-httplib-dev)");
  return true;
#endif
}

std::string letters(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  return text;
}

}  // namespace

TEST_CASE("objects and parts of them come as they are, over one connection") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  const std::string content = letters(3'000'000);
  data.write("big file", content);
  data.write("empty", std::string());
  Served served(data.path());
  HttpSocket socket(served.port());
  const HttpReply whole = socket.get("/big%20file");
  CHECK(whole.status == 200);
  CHECK(whole.body == content);
  CHECK(whole.headers.at("accept-ranges") == "bytes");
  CHECK(whole.headers.contains("etag"));
  CHECK(whole.headers.contains("last-modified"));
  const HttpReply part = socket.get("/big%20file", "Range: bytes=1000-1999\r\n");
  CHECK(part.status == 206);
  CHECK(part.body == content.substr(1000, 1000));
  CHECK(part.headers.at("content-range") == "bytes 1000-1999/3000000");
  CHECK(socket.get("/big%20file", "Range: bytes=-5\r\n").body == content.substr(2'999'995));
  CHECK(socket.get("/big%20file", "Range: bytes=3000000-\r\n").status == 416);
  const HttpReply empty = socket.get("/empty");
  CHECK(empty.status == 200);
  CHECK(empty.headers.at("content-length") == "0");
  socket.send("HEAD /big%20file HTTP/1.1\r\nHost: test\r\n\r\n");
  const HttpReply head = socket.receive(true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == "3000000");
  CHECK(socket.get("/none").status == 404);
  const EmulatorTotals totals = served.end();
  CHECK(totals.requests == 7);
  CHECK(totals.bytes == 3'000'000 + 1000 + 5);
  CHECK(totals.most_in_flight == 1);
}

TEST_CASE("requests that were sent together are answered one after the other") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  data.write("x", std::string("content"));
  Served served(data.path());
  HttpSocket socket(served.port());
  const std::string request = "GET /x HTTP/1.1\r\nHost: test\r\n\r\n";
  socket.send(request + request + request);
  for (int i = 0; i < 3; ++i) CHECK(socket.receive().body == "content");
}

TEST_CASE("many connections are served at once, and refused ones are told when to come back") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  data.write("x", letters(100'000));
  StorageSettings settings = test::unlimited_storage();
  settings.requests_per_second = 1e-6;
  settings.burst = 40;
  Served served(data.path(), settings);
  std::vector<HttpSocket> sockets;
  for (int i = 0; i < 100; ++i) sockets.emplace_back(served.port());
  for (HttpSocket& socket : sockets) socket.send("GET /x HTTP/1.1\r\nHost: test\r\n\r\n");
  int whole = 0;
  int refused = 0;
  for (HttpSocket& socket : sockets) {
    const HttpReply reply = socket.receive();
    if (reply.status == 200 && reply.body.size() == 100'000) ++whole;
    if (reply.status == 503 && reply.headers.contains("retry-after")) ++refused;
  }
  CHECK(whole == 40);
  CHECK(refused == 60);
  CHECK(served.end().throttled == 60);
}

TEST_CASE("nothing outside the folder is served over the wire") {
  if (lacks_server()) return;
  const TemporaryFolder parent;
  parent.write("secret", std::string("secret"));
  parent.write("data/x", std::string("x"));
  Served served(parent.path("data"));
  for (const char* const path :
       {"/../secret", "/%2e%2e/secret", "/%2E%2E%2Fsecret", "/..%2fsecret", "/x/../../secret",
        "/%252e%252e/secret", "//../secret", "/x%00", "/%", "/%zz", "/..;/secret", "secret",
        "/?/../secret", "*", "http://test/../secret"}) {
    CAPTURE(path);
    HttpSocket socket(served.port());
    const HttpReply reply = socket.get(path);
    CHECK(reply.status >= 400);
    CHECK_FALSE(has(reply.body, "secret"));
  }
}

TEST_CASE("hostile requests end their own connection at most") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  data.write("x", std::string("content"));
  Served served(data.path());
  const std::string get = "GET /x HTTP/1.1\r\nHost: test\r\n";
  const std::vector<std::string> hostile{
      std::string("\r\n\r\n"),
      std::string("nonsense\r\n\r\n"),
      std::string(100'000, 'a'),
      "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n",
      std::string("GET\0/x\r\n\r\n", 11),
      std::string("\x16\x03\x01\x02\x00\x01", 6) + "\r\n\r\n",
      "BREW /x HTTP/1.1\r\n\r\n",
      std::string("GET /x HTTP/9.9\r\n\r\n"),
      get + std::string(1'000'000, 'h') + "\r\n\r\n",
      get + "Range: bytes=" + std::string(8'000, '9') + "-\r\n\r\n",
      get + "Range: bytes=0-" + std::string(8'000, ',') + "\r\n\r\n",
      get + "Range: bytes=5-1\r\n\r\n",
      get + "Content-Length: 99999999999999999999\r\n\r\n",
      get + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST /x HTTP/1.1\r\nContent-Length: 7\r\n\r\nGET /x "};
  for (const std::string& bytes : hostile) {
    CAPTURE(bytes.substr(0, 60));
    HttpSocket socket(served.port());
    socket.send(bytes);
    // What it says, if anything, is not an answer to a second request.
    socket.send(get);
  }
  std::string many = get;
  for (int i = 0; i < 20'000; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  HttpSocket headers(served.port());
  headers.send(many + "\r\n");
  CHECK(headers.receive().status != 200);
  // Several ranges, and units that are not known, are answered whole or refused.
  HttpSocket ranges(served.port());
  CHECK(ranges.get("/x", "Range: bytes=0-1,3-4\r\n").body == "content");
  CHECK(HttpSocket(served.port()).get("/x").body == "content");
}

TEST_CASE("a body that nobody reads is not taken for a request") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  data.write("x", std::string("content"));
  Served served(data.path());
  HttpSocket post(served.port());
  const std::string inner = "GET /x HTTP/1.1\r\nHost: test\r\n\r\n";
  post.send("POST /x HTTP/1.1\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n" +
            inner);
  CHECK(post.receive().status == 405);
  CHECK(post.is_closed());
}

TEST_CASE("a stop ends connections that wait, are idle or are being served") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  data.write("x", letters(1'000'000));
  StorageSettings slow = test::unlimited_storage();
  slow.median_seconds = slow.p99_seconds = 3000;
  Served waits(data.path(), slow);
  HttpSocket waiting(waits.port());
  waiting.send("GET /x HTTP/1.1\r\nHost: test\r\n\r\n");
  StorageSettings narrow = test::unlimited_storage();
  narrow.bytes_per_second = 1;
  Served sends(data.path(), narrow);
  HttpSocket sending(sends.port());
  HttpSocket idle(sends.port());
  sending.send("GET /x HTTP/1.1\r\nHost: test\r\n\r\n");
  sends.end();
  CHECK(sending.receive().body.size() < 1'000'000);
  CHECK(idle.is_closed());
  waits.end();
  CHECK(waiting.receive().body.empty());
}

TEST_CASE("what cannot be served is refused with its name") {
  if (lacks_server()) return;
  const TemporaryFolder data;
  const auto refused = [&](const EmulatorOptions& options) {
    return test::usage_error([&] { const StorageEmulator emulator(options); });
  };
  CHECK(has(refused({.folder = data.path("none"), .storage = {}}), "none"));
  CHECK(has(refused({.folder = data.path(), .address = "no such host", .storage = {}}),
            "no such host"));
  const Served first(data.path());
  CHECK(has(refused({.folder = data.path(), .port = first.port(), .storage = {}}), "taken"));
  StorageSettings wrong;
  wrong.burst = 0;
  CHECK(has(refused({.folder = data.path(), .storage = wrong}), "burst"));
}

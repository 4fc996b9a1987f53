// What a client makes of servers, good and hostile: outcomes and words, no times.
#include "cachebisect/http/http_client.hpp"

#include <string>

#include "support/http_client.hpp"
#include "support/socket_server.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/http/shown_url.hpp"

using namespace cachebisect;
using test::has;
using test::http_answer;
using test::Said;
using test::SocketServer;
using Outcome = HttpResult::Outcome;

namespace {

bool go_on(std::uint64_t /*bytes*/) { return false; }

HttpResult read_part(const std::string& url, std::uint64_t begin, std::uint64_t bytes) {
  HttpClient client(1);
  return client.read({.url = url, .begin = begin, .bytes = bytes}, go_on);
}

HttpResult read_whole(const std::string& url, std::uint64_t bytes = 0) {
  HttpClient client(1);
  return client.read({.url = url, .begin = std::nullopt, .bytes = bytes}, go_on);
}

/// What is said of a server that answers each request so.
HttpResult part_of(const Said& said) {
  const SocketServer server([&](const std::string& /*head*/) { return said; });
  return read_part(server.url("/x"), 0, 4);
}

constexpr const char* kPart = "206 Partial Content";

}  // namespace

TEST_CASE("parts and whole objects are read over one connection") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& head) {
    if (!has(head, "Range: bytes=2-5")) return Said{http_answer("200 OK", "", "0123456789")};
    return Said{http_answer(kPart, "Content-Range: bytes 2-5/10\r\n", "2345")};
  });
  HttpClient client;
  const HttpResult part = client.read({.url = server.url("/x"), .begin = 2, .bytes = 4}, go_on);
  CHECK(part.outcome == Outcome::whole);
  CHECK(part.is_part);
  CHECK(part.bytes == 4);
  CHECK(part.object_bytes == 10);
  CHECK(part.connections == 1);
  const HttpResult whole = client.read({.url = server.url("/x")}, go_on);
  CHECK(whole.outcome == Outcome::whole);
  CHECK_FALSE(whole.is_part);
  CHECK(whole.bytes == 10);
  CHECK(whole.object_bytes == 10);
  CHECK(whole.connections == 0);
  CHECK(server.connections() == 1);
}

TEST_CASE("answers that throttle are told from those that fail") {
  if (test::lacks_http_client()) return;
  const HttpResult busy = part_of({http_answer("503 Slow Down", "Retry-After: 7\r\n", "slow")});
  CHECK(busy.outcome == Outcome::throttled);
  CHECK(busy.retry_seconds == 7);
  CHECK(part_of({http_answer("429 Too Many", "", "")}).outcome == Outcome::throttled);
  const HttpResult gone = part_of({http_answer("404 Not Found", "", "no")});
  CHECK(gone.outcome == Outcome::failed);
  CHECK(has(gone.problem, "/x: HTTP status 404"));
  CHECK(has(part_of({http_answer("500 Oops", "", "")}).problem, "500"));
}

TEST_CASE("a server that ignores ranges, or sends another part, is told by its words") {
  if (test::lacks_http_client()) return;
  const HttpResult whole = part_of({http_answer("200 OK", "", "0123456789")});
  CHECK(whole.outcome == Outcome::failed);
  CHECK(has(whole.problem, "sends the whole object"));
  CHECK(whole.object_bytes == 10);
  CHECK(has(part_of({http_answer(kPart, "Content-Range: bytes 3-6/10\r\n", "3456")}).problem,
            "another part"));
  CHECK(has(part_of({http_answer(kPart, "", "0123")}).problem, "another part"));
  CHECK(has(part_of({http_answer(kPart, "Content-Range: bytes 0-1/10\r\n", "01")}).problem,
            "2 of 4 bytes"));
  CHECK(has(part_of({http_answer(kPart, "Content-Range: bytes 0-9/10\r\n", "0123456789")}).problem,
            "more than the 4 bytes"));
}

TEST_CASE("answers that do not end are given up") {
  if (test::lacks_http_client()) return;
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const SocketServer endless([&](const std::string& request) {
    if (has(request, "/head"))
      return Said{.bytes = head + "X: 1\r\n" + std::string(4000, 'x') + ": 1\r\n"};
    return Said{.bytes = head + "\r\n" + std::string(65536, 'x'), .endless = true};
  });
  CHECK(has(read_whole(endless.url("/body"), 1000).problem, "more than the 1000 bytes"));
  const HttpResult unknown = read_whole(endless.url("/body"));
  CHECK(has(unknown.problem, "largest object"));
  CHECK(unknown.bytes <= kMostObjectBytes + 262'144);
  const SocketServer headers(
      [&](const std::string& /*request*/) { return Said{.bytes = head, .endless = true}; });
  CHECK(read_whole(headers.url("/x")).outcome == Outcome::failed);
  const SocketServer refusal([&](const std::string& /*request*/) {
    return Said{.bytes = "HTTP/1.1 404 No\r\n\r\n" + std::string(65536, 'x'), .endless = true};
  });
  CHECK(has(read_whole(refusal.url("/x")).problem, "HTTP status 404"));
}

TEST_CASE("a server that says nothing is given up, or cut by the caller") {
  if (test::lacks_http_client()) return;
  const SocketServer silent([](const std::string& /*head*/) { return Said{}; });
  CHECK(read_part(silent.url("/x"), 0, 4).outcome == Outcome::failed);
  HttpClient patient(3600);
  CHECK(patient.read({.url = silent.url("/x")}, [](std::uint64_t /*bytes*/) { return true; })
            .outcome == Outcome::cut);
  const SocketServer stops([](const std::string& /*head*/) {
    return Said{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"};
  });
  CHECK(read_whole(stops.url("/x"), 100).outcome == Outcome::failed);
}

TEST_CASE("a body that is cut short, and what is no HTTP, are told") {
  if (test::lacks_http_client()) return;
  const HttpResult cut = part_of(
      {.bytes = "HTTP/1.1 206 P\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\n01",
       .close = true});
  CHECK(cut.outcome == Outcome::failed);
  CHECK(cut.bytes == 2);
  CHECK_FALSE(cut.problem.empty());
  for (const char* const bytes : {"SSH-2.0-OpenSSH_9.2\r\n", "\x15\x03\x01", "", "\r\n\r\n"}) {
    CAPTURE(bytes);
    const HttpResult other = part_of({.bytes = bytes, .close = true});
    CHECK(other.outcome == Outcome::failed);
    CHECK_FALSE(other.problem.empty());
  }
}

TEST_CASE("a few redirects are followed, endless ones and other protocols are not") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& head) {
    if (has(head, "GET /end")) return Said{http_answer("200 OK", "", "end")};
    const std::string to = has(head, "GET /once")   ? "/end"
                           : has(head, "GET /file") ? "file:///etc/passwd"
                                                    : "/loop";
    return Said{http_answer("302 Found", "Location: " + to + "\r\n", "")};
  });
  CHECK(read_whole(server.url("/once")).bytes == 3);
  const int before = server.requests();
  const HttpResult loop = read_whole(server.url("/loop"));
  CHECK(loop.outcome == Outcome::failed);
  CHECK(has(loop.problem, "redirects"));
  CHECK(server.requests() - before < 10);
  CHECK(read_whole(server.url("/file")).outcome == Outcome::failed);
}

TEST_CASE("a port without a server, an unknown name and TLS where there is none are told") {
  if (test::lacks_http_client()) return;
  std::string closed;
  std::string plain;
  {
    const SocketServer server([](const std::string& /*head*/) { return Said{"no", true}; });
    closed = server.url("/x");
    plain = "https" + closed.substr(4);
    CHECK(read_whole(plain).outcome == Outcome::failed);
  }
  CHECK(has(read_whole(closed).problem, "connect"));
  CHECK(read_whole("http://name.invalid/x").outcome == Outcome::failed);
}

TEST_CASE("secrets of a URL are not shown") {
  CHECK(shown_url("https://me:secret@host:1/a@b?sign=secret#x") == "https://host:1/a@b");
  CHECK(shown_url("http://host") == "http://host");
  CHECK(shown_url("http://host/a\x1b[2J") == "http://host/a\\x1b[2J");
}

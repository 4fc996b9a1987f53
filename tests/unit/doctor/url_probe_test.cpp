// What a server of objects gives: which reads are made, what is counted, and what is said of it.
#include "cachebisect/doctor/url_probe.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "support/http_client.hpp"
#include "support/socket_server.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/doctor/read_window.hpp"
#include "cachebisect/format/document/render.hpp"

using namespace cachebisect;
using test::has;
using test::http_answer;
using test::Said;
using test::SocketServer;

namespace {

/// Answers requests for an object, and for parts of it, as servers do.
Said object_of(const std::string& head, std::size_t size) {
  const std::size_t at = head.find("Range: bytes=");
  if (at == std::string::npos) return {http_answer("200 OK", "", std::string(size, 'x'))};
  char* dash = nullptr;
  const std::size_t begin = std::strtoul(head.c_str() + at + 13, &dash, 10);
  const std::size_t end = std::strtoul(dash + 1, nullptr, 10);
  return {http_answer("206 Partial Content",
                      "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end) +
                          "/" + std::to_string(size) + "\r\n",
                      std::string(end + 1 - begin, 'x'))};
}

UrlFacts probed(const SocketServer& server, double seconds = 0.5) {
  return probe_urls({.urls = {server.url("/a"), server.url("/b")}, .seconds = seconds}, {});
}

std::string text_of(const UrlFacts& facts, const std::optional<StorageNeeds>& needs = {}) {
  std::string text = to_text(server_document(facts, needs), {.columns = 100});
  std::ranges::replace(text, '\n', ' ');
  return text;
}

ReadRate rate_of_row(double bytes_per_second) {
  return {.bytes_per_second = bytes_per_second, .median_seconds = 1e-3, .reads = 100};
}

}  // namespace

TEST_CASE("rows are made for sizes that the objects have, over connections that are kept") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& head) { return object_of(head, 50'000); });
  const UrlFacts facts = probed(server);
  CHECK(facts.problem == "");
  CHECK(facts.objects == 2);
  CHECK(facts.unreadable == 0);
  CHECK(facts.median_bytes == 50'000);
  CHECK(facts.has_parts);
  // Of 4 KiB and whole; the objects have no parts of 128 KiB.
  REQUIRE(facts.rows.size() == 8);
  CHECK(facts.rows[0].read_bytes == 4096);
  CHECK(facts.rows[3].in_flight == 64);
  CHECK(facts.rows[4].read_bytes == 0);
  for (const StorageRow& row : facts.rows) {
    REQUIRE(row.memory.has_value());
    CHECK(row.memory->reads > 0);
  }
  CHECK(facts.failed == 0);
  CHECK(facts.throttled == 0);
  CHECK(facts.connections == static_cast<std::uint64_t>(server.connections()));
  CHECK(facts.requests == static_cast<std::uint64_t>(server.requests()));
  CHECK(facts.requests > 10 * facts.connections / 8);
}

TEST_CASE("what is read for the first time is read once, and then again") {
  if (test::lacks_http_client()) return;
  std::mutex mutex;
  std::map<std::string, int> seen;
  const SocketServer server([&](const std::string& head) {
    const std::size_t at = head.find("Range: ");
    if (at != std::string::npos) {
      const std::scoped_lock lock(mutex);
      ++seen[head.substr(4, 2) + head.substr(at, head.find('\r', at) - at)];
    }
    return object_of(head, 100 * 4096);
  });
  static_cast<void>(probed(server));
  const std::scoped_lock lock(mutex);
  const auto again = std::ranges::count_if(seen, [](const auto& part) { return part.second > 1; });
  CHECK(again > 50);
  CHECK(seen.size() > 60);
}

TEST_CASE("a server without ranges is read in whole objects, and that is said") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& /*head*/) {
    return Said{http_answer("200 OK", "", std::string(20'000, 'x'))};
  });
  const UrlFacts facts = probed(server);
  CHECK(facts.objects == 2);
  CHECK_FALSE(facts.has_parts);
  REQUIRE(facts.rows.size() == 4);
  CHECK(facts.rows[0].read_bytes == 0);
  CHECK(facts.rows[0].memory->reads > 0);
  CHECK(has(text_of(facts), "sends no parts of objects"));
}

TEST_CASE("answers that throttle are counted, and the server is left alone for a while") {
  if (test::lacks_http_client()) return;
  std::atomic<int> number{0};
  std::atomic<int> refused{0};
  const SocketServer server([&](const std::string& head) {
    if (++number % 10 != 0) return object_of(head, 50'000);
    ++refused;
    return Said{http_answer("503 Slow Down", "Retry-After: 1\r\n", "")};
  });
  const UrlFacts facts = probed(server);
  CHECK(facts.throttled > 0);
  CHECK(facts.throttled == static_cast<std::uint64_t>(refused));
  CHECK(facts.failed == 0);
  CHECK(has(text_of(facts), "throttled (429 or 503)"));
}

TEST_CASE("objects that cannot be read are counted, the others are measured") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& head) {
    if (has(head, "GET /b")) return Said{http_answer("403 Forbidden", "", "no")};
    return object_of(head, 50'000);
  });
  const UrlFacts facts = probed(server);
  CHECK(facts.objects == 1);
  CHECK(facts.unreadable == 1);
  CHECK(has(text_of(facts), "1 could not be read"));
  CHECK(has(text_of(facts), "/b: HTTP status 403"));
}

TEST_CASE("a server of which nothing can be read ends it, with its reason") {
  if (test::lacks_http_client()) return;
  const SocketServer refuses(
      [](const std::string& /*head*/) { return Said{http_answer("403 Forbidden", "", "")}; });
  CHECK(has(text_of(probed(refuses)), "HTTP status 403"));
  const SocketServer busy(
      [](const std::string& /*head*/) { return Said{http_answer("429 Wait", "", "")}; });
  CHECK(has(text_of(probed(busy)), "refused all requests"));
  const SocketServer empty([](const std::string& /*head*/) {
    return Said{http_answer("416 Outside", "Content-Range: bytes */0\r\n", "")};
  });
  CHECK_FALSE(probed(empty).problem.empty());
  CHECK(refuses.requests() < 200);
}

TEST_CASE("a stop ends it") {
  if (test::lacks_http_client()) return;
  std::stop_source stop;
  const SocketServer server([&](const std::string& head) {
    stop.request_stop();
    return object_of(head, 50'000);
  });
  CHECK_THROWS_AS(static_cast<void>(
                      probe_urls({.urls = {server.url("/a")}, .seconds = 3600}, stop.get_token())),
                  Error);
}

TEST_CASE("no more is read than may be") {
  if (test::lacks_http_client()) return;
  const SocketServer server([](const std::string& head) { return object_of(head, 600'000); });
  const UrlFacts facts =
      probe_urls({.urls = {server.url("/a")}, .seconds = 3600, .most_bytes = 4'000'000}, {});
  CHECK(facts.rows.size() == 12);
  // Each read that is under way at the end of a row is finished.
  CHECK(facts.bytes < 200'000'000);
}

TEST_CASE("bytes count until the window ends, by its time or by its last byte") {
  ReadWindow timed(2, 1000);
  timed.begin(10);
  timed.add(100, 11);
  CHECK_FALSE(timed.is_over(11.9));
  CHECK(timed.is_over(12));
  timed.add(500, 12.5);
  CHECK(timed.rate(13) == 50);
  CHECK(timed.rate(11) == 100);
  ReadWindow full(2, 1000);
  full.begin(10);
  full.add(1000, 10.5);
  CHECK(full.is_over(10.5));
  full.add(1000, 11);
  CHECK(full.rate(13) == 2000);
}

TEST_CASE("the table says what is known, and holds it against what a job needs") {
  UrlFacts facts;
  facts.server = "http://host:80";
  facts.objects = 3;
  facts.median_bytes = 110e3;
  facts.has_parts = true;
  facts.requests = 1234;
  facts.connections = 64;
  facts.connect_seconds = 0.002;
  facts.bytes = 5'000'000;
  facts.rows = {{4096, 1, rate_of_row(1e6), rate_of_row(2e6)},
                {0, 1, rate_of_row(10e6), rate_of_row(20e6)},
                {0, 16, rate_of_row(90e6), std::nullopt}};
  const std::string text = text_of(
      facts, StorageNeeds{.name = "job", .bytes_per_second = 50e6, .bytes_per_sample = 1e5});
  CHECK(
      has(text, "Storage of http://host:80, at random places of 3 objects (110 kB each, median)."));
  CHECK(has(text, "first time"));
  CHECK(has(text, "1234 requests for 5.0 MB over 64 new connections (2.0 ms each, median); none"));
  CHECK(has(text, "whole objects give 90.0 MB/s with 16 in flight"));
  facts.throttled = 5;
  facts.failed = 2;
  facts.first_failure = "http://host/x: broken";
  CHECK(has(text_of(facts), "5 throttled (429 or 503)"));
  CHECK(has(text_of(facts), "2 failed, the first: http://host/x: broken."));
}

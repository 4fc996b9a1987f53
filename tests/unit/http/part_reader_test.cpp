// Ranges of objects, read from servers that refuse, fail, lie and hang: bytes, words and counts.
#include "cachebisect/http/part_reader.hpp"

#include <chrono>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "support/errors.hpp"
#include "support/http_client.hpp"
#include "support/object_server.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;
using test::http_answer;
using test::object_content;
using test::ObjectServer;
using test::part_answer;
using test::Said;

namespace {

using Other = std::optional<Said>;

/// Pauses are short; parts are of 1000 bytes.
PartLimits quick(int tries = 4) {
  return {.part_bytes = 1000,
          .in_flight = 4,
          .silent_seconds = 1,
          .retry = {.tries = tries, .first_seconds = 0.001, .total_seconds = 30}};
}

/// An object opened, and read in two pieces.
class Reading {
 public:
  explicit Reading(const std::string& url, const PartLimits& limits = quick(),
                   std::stop_token stop = {})
      : object_{.url = url, .shown = "the object"}, reader_(counter_, std::move(stop), limits) {}

  ObjectFacts look_up() { return reader_.look_up(object_); }
  std::string read(const ObjectFacts& known, std::uint64_t offset, std::size_t first,
                   std::size_t second = 0) {
    std::string one(first, '?');
    std::string two(second, '?');
    reader_.read(object_, known, offset, std::as_writable_bytes(std::span(one)),
                 std::as_writable_bytes(std::span(two)));
    return one + two;
  }
  /// What there is of the first bytes; "none" if there is no object.
  std::string find(std::size_t bytes) {
    std::string head(bytes, '?');
    WantedHead wanted{.object = &object_, .head = std::as_writable_bytes(std::span(head))};
    reader_.find({&wanted, 1});
    return wanted.found ? head + " of " + std::to_string(wanted.found->bytes) : "none";
  }
  [[nodiscard]] RequestCounts counts() const { return counter_.counts(); }

 private:
  ObjectAddress object_;
  RequestCounter counter_;
  PartReader reader_;
};

/// What is said of a server whose every answer is this.
std::string refusal(const Said& said, const PartLimits& limits = quick()) {
  const ObjectServer server("", [&](int, const std::string&) { return Other(said); });
  return test::error_message([&] { static_cast<void>(Reading(server.url(), limits).look_up()); },
                             ErrorKind::data);
}

/// Whether reading 10 bytes succeeds after an answer of this kind, at the second try.
void check_repeated(const Said& first) {
  const std::string content = object_content(100);
  const ObjectServer server(content, [&](int number, const std::string&) {
    return number == 0 ? Other(first) : std::nullopt;
  });
  Reading reading(server.url());
  CHECK(reading.read({.bytes = 100}, 20, 10) == content.substr(20, 10));
  CHECK(reading.counts().requests == 2);
  CHECK(reading.counts().repeated == 1);
  CHECK(reading.counts().throttled + reading.counts().failed == 1);
}

}  // namespace

TEST_CASE("large reads are made in parts, several at once, and put together") {
  if (test::lacks_http_client()) return;
  const std::string content = object_content(20'000);
  const ObjectServer server(content);
  Reading reading(server.url());
  const ObjectFacts known = reading.look_up();
  CHECK(known.bytes == content.size());
  CHECK(known.tag == "\"1\"");
  CHECK(reading.read(known, 5, 7200, 5300) == content.substr(5, 12'500));
  CHECK(server.requests() == 14);
  CHECK(reading.counts().requests == 14);
  CHECK(reading.counts().repeated == 0);
  CHECK(reading.counts().received_bytes == 12'501);
  CHECK(reading.counts().connections <= 4);
  CHECK(reading.counts().most_in_flight == 4);
  CHECK(reading.read(known, 19'999, 1) == content.substr(19'999));
  CHECK(reading.read(known, 0, 0, 3) == content.substr(0, 3));
  CHECK(reading.read(known, 999, 1, 1000) == content.substr(999, 1001));
  CHECK(reading.counts().connections <= 4);
}

TEST_CASE("an object is found with its first bytes, or not at all, by one request") {
  if (test::lacks_http_client()) return;
  const std::string content = object_content(30);
  const ObjectServer server(content);
  Reading reading(server.url());
  CHECK(reading.find(10) == content.substr(0, 10) + " of 30");
  CHECK(reading.find(33) == content + "???" + " of 30");
  CHECK(reading.find(0) == " of 30");
  CHECK(reading.counts().requests == 3);

  const ObjectServer none("", [](int, const std::string&) {
    return Other(Said{http_answer("404 No", "", "<Error><Code>NoSuchKey</Code></Error>")});
  });
  Reading missing(none.url());
  CHECK(missing.find(10) == "none");
  CHECK(missing.counts().requests == 1);
  CHECK(missing.counts().failed == 0);
}

TEST_CASE("the first bytes of an object that come short are asked for again, then refused") {
  if (test::lacks_http_client()) return;
  const ObjectServer server("", [](int, const std::string&) {
    return Other(Said{.bytes = "HTTP/1.1 206 P\r\nContent-Range: bytes 0-8/30\r\nContent-Length: "
                               "9\r\n\r\n012345678"});
  });
  const std::string error = test::error_message(
      [&] { static_cast<void>(Reading(server.url()).find(20)); }, ErrorKind::data);
  CHECK(error == "the object: the server sent 9 of 20 bytes");
}

TEST_CASE("requests that are refused for now, fail on the way or end early are repeated") {
  if (test::lacks_http_client()) return;
  check_repeated({http_answer("503 Slow Down", "", "slow")});
  check_repeated({http_answer("429 Too Many", "Retry-After: 0\r\n", "")});
  check_repeated({http_answer("500 Oops", "", "")});
  check_repeated({http_answer("502 Bad Gateway", "", "")});
  check_repeated({http_answer("504 Timeout", "", "")});
  check_repeated({.bytes = "", .close = true});
  check_repeated({.bytes = "HTTP/1.1 206 P\r\nContent-Range: bytes 20-29/100\r\nContent-Length: "
                           "10\r\n\r\n01",
                  .close = true});
}

TEST_CASE("what does not pass is told with the number of tries") {
  if (test::lacks_http_client()) return;
  const std::string down = refusal({http_answer("500 Oops", "", "")}, quick(3));
  CHECK(down.starts_with("the object: HTTP status 500; tried 3 times in "));
  CHECK(
      has(refusal({http_answer("503 No", "", "")}, quick(2)), "no more for now (HTTP status 503"));
  CHECK(has(refusal({http_answer("503 No", "Retry-After: 3600\r\n", "")}),
            "(HTTP status 503), and asks for a pause of"));
  CHECK(refusal({http_answer("404 No", "", "")}) == "the object: HTTP status 404");
  CHECK(refusal({http_answer("403 No", "",
                             "<?xml?><Error><Code>AccessDenied</Code><Message>Access "
                             "Denied\x1b</Message></Error>")}) ==
        "the object: HTTP status 403 (AccessDenied: Access Denied\\x1b)");
  CHECK(has(refusal({http_answer("416 No", "Content-Range: bytes */0\r\n", "")}), "it is empty"));
  CHECK(has(refusal({.bytes = "", .close = true}, quick(2)), "tried 2 times"));
}

TEST_CASE("answers that are not what was asked for are refused at once") {
  if (test::lacks_http_client()) return;
  const auto once = [](const Said& said) {
    const ObjectServer server("", [&](int, const std::string&) { return Other(said); });
    Reading reading(server.url());
    const std::string message = test::error_message(
        [&] { static_cast<void>(reading.read({.bytes = 100}, 0, 4)); }, ErrorKind::data);
    CHECK(server.requests() == 1);
    CHECK(reading.counts().failed == 1);
    return message;
  };
  const std::string part = "206 Partial Content";
  CHECK(has(once({http_answer("200 OK", "", "0123456789")}), "ranges, which it must answer"));
  CHECK(has(once({http_answer(part, "Content-Range: bytes 1-4/100\r\n", "1234")}), "another part"));
  CHECK(has(once({http_answer(part, "Content-Range: bytes 0-1/100\r\n", "01")}), "2 of 4 bytes"));
  CHECK(has(once({.bytes = "HTTP/1.1 206 P\r\nContent-Range: bytes 0-3/100\r\n\r\n" +
                           std::string(100'000, 'x'),
                  .endless = true}),
            "more than the 4 bytes"));
}

TEST_CASE("an object that was changed since it was opened is told") {
  if (test::lacks_http_client()) return;
  const std::string content = object_content(100);
  const ObjectServer server(content, [&](int number, const std::string& head) {
    return number == 0 ? std::nullopt : Other(part_answer(head, content, "\"2\""));
  });
  Reading reading(server.url());
  const ObjectFacts known = reading.look_up();
  CHECK(has(test::error_message([&] { reading.read(known, 0, 4); }, ErrorKind::data),
            "the object: it was changed"));
  CHECK(has(test::error_message([&] { reading.read({.bytes = 99}, 0, 4); }, ErrorKind::data),
            "it was changed"));
  CHECK(reading.read({.bytes = 100}, 0, 4) == content.substr(0, 4));
}

TEST_CASE("a stop ends a read from a server that says nothing, and one that is to be repeated") {
  if (test::lacks_http_client()) return;
  for (const Said& said : {Said{}, Said{http_answer("503 No", "Retry-After: 20\r\n", "")}}) {
    const ObjectServer server("", [&](int, const std::string&) { return Other(said); });
    std::stop_source stop;
    const std::jthread stopper([&] {
      while (server.requests() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stop.request_stop();
    });
    PartLimits patient = quick();
    patient.silent_seconds = 3600;
    Reading reading(server.url(), patient, stop.get_token());
    CHECK(test::error_of([&] { static_cast<void>(reading.look_up()); }) == "130: stopped");
  }
}

TEST_CASE("a server that falls silent is asked again") {
  if (test::lacks_http_client()) return;
  check_repeated({.bytes = "HTTP/1.1 206 P\r\nContent-Range: bytes 20-29/100\r\nContent-Length: "
                           "10\r\n\r\n01"});
}

// What is answered and when, in virtual time.
#include "cachebisect/emulator/object_service.hpp"

#include <algorithm>
#include <string>

#include "support/files.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::TemporaryFolder;

namespace {

StorageSettings steady() {
  return {.median_seconds = 0.02,
          .p99_seconds = 0.02,
          .bytes_per_second = 10e6,
          .requests_per_second = 10,
          .burst = 3,
          .seed = 1};
}

std::string header(const ObjectReply& reply, const std::string& name) {
  const auto found =
      std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
  return found == reply.headers.end() ? "" : found->second;
}

ObjectRequest get(const std::string& path, const std::string& range = "",
                  const std::string& if_range = "") {
  return {.method = "GET", .path = path, .range = range, .if_range = if_range};
}

}  // namespace

TEST_CASE("an object, a part of it, and what it has not") {
  const TemporaryFolder data;
  data.write("x", std::string(1000, 'x'));
  data.write("empty", std::string());
  StorageSettings settings = steady();
  settings.requests_per_second = 0;
  ObjectService service(data.path(), settings);
  const ObjectReply whole = service.answer(get("/x"), 1);
  CHECK(whole.status == 200);
  CHECK(whole.bytes == 1000);
  CHECK(whole.due == doctest::Approx(1.02));
  CHECK(header(whole, "Accept-Ranges") == "bytes");
  const ObjectReply part = service.answer(get("/x", "bytes=990-2000"), 1);
  CHECK(part.status == 206);
  CHECK(part.begin == 990);
  CHECK(part.bytes == 10);
  CHECK(header(part, "Content-Range") == "bytes 990-999/1000");
  const ObjectReply outside = service.answer(get("/x", "bytes=1000-"), 1);
  CHECK(outside.status == 416);
  CHECK(header(outside, "Content-Range") == "bytes */1000");
  CHECK(outside.file == nullptr);
  CHECK(service.answer(get("/none"), 1).status == 404);
  CHECK(service.answer(get("/"), 1).status == 404);
  CHECK(service.answer(get("/empty"), 1).status == 200);
  const ObjectReply post =
      service.answer({.method = "POST", .path = "/x", .range = "", .if_range = ""}, 1);
  CHECK(post.status == 405);
  CHECK(header(post, "Allow") == "GET, HEAD");
  CHECK(post.last_of_connection);
}

TEST_CASE("a part is only sent of the object that the client knows") {
  const TemporaryFolder data;
  data.write("x", std::string(1000, 'x'));
  StorageSettings settings = steady();
  settings.requests_per_second = 0;
  ObjectService service(data.path(), settings);
  const ObjectReply known = service.answer(get("/x"), 0);
  CHECK(service.answer(get("/x", "bytes=0-9", header(known, "ETag")), 0).status == 206);
  CHECK(service.answer(get("/x", "bytes=0-9", header(known, "Last-Modified")), 0).status == 206);
  CHECK(service.answer(get("/x", "bytes=0-9", "\"other\""), 0).status == 200);
}

TEST_CASE("above the rate requests are refused at once, and counted") {
  const TemporaryFolder data;
  data.write("x", std::string(1000, 'x'));
  ObjectService service(data.path(), steady());
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    const ObjectReply reply = service.answer(get("/x"), 10);
    if (reply.status != 503) continue;
    ++refused;
    CHECK(reply.due == 10);
    CHECK(header(reply, "Retry-After") == "1");
  }
  CHECK(refused == 2);
  CHECK(service.totals().throttled == 2);
  CHECK(service.totals().requests == 5);
}

TEST_CASE("requests are in flight until their replies are gone; pieces are counted and paced") {
  const TemporaryFolder data;
  data.write("x", std::string(1000, 'x'));
  ObjectService service(data.path(), steady());
  {
    const ObjectReply one = service.answer(get("/x"), 0);
    const ObjectReply two = service.answer(get("/none"), 0);
  }
  const ObjectReply three = service.answer(get("/x"), 0);
  CHECK(service.totals().most_in_flight == 2);
  CHECK(service.piece_bytes() == 16384);
  CHECK(service.send_piece(1, 1'000'000) == doctest::Approx(1.1));
  CHECK(service.totals().bytes == 1'000'000);
}

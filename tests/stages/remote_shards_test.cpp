// read.shards over HTTP: the same samples as from files, by few requests, and never a wrong one.
#include <stop_token>
#include <string>

#include "support/errors.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/shard_folder.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/pipeline/source_print.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<SourceStage> opened_shards(const std::string& path, double buffer = 0) {
  auto source = make_source("read.shards", path, {{"shuffle_buffer_mb", buffer}});
  source->open();
  return source;
}

std::string shown_record(const Sample& sample) {
  const auto image = sample.field("image").as<std::uint8_t>();
  return std::string(image.begin(), image.end()) + "|" +
         std::to_string(sample.field("label").as_integer());
}

std::string expected_record(std::uint64_t number, std::size_t bytes) {
  return counting_image(number, bytes) + "|" + std::to_string(number);
}

RequestCounts requests_of(const SourceStage& source) { return request_counts_of(source).value(); }

}  // namespace

TEST_CASE("shards on a server give the samples of shards in files") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 50, 20, 300);
  const FolderServer server(folder.path());
  for (const double buffer : {0.0, 1.0}) {
    const auto local = opened_shards(folder.path(), buffer);
    const auto remote = opened_shards(server.url("/"), buffer);
    REQUIRE(remote->size() == 50);
    CHECK(remote->read_runs().samples == local->read_runs().samples);
    for (std::uint64_t i = 50; i-- > 0;) {
      CHECK(shown_record(read_sample(*remote, i)) == expected_record(i, 300));
      CHECK(shown_record(read_sample(*local, i)) == expected_record(i, 300));
    }
    CHECK(local->files({0}).size() == 1);
    CHECK(remote->files({0}).empty());
    CHECK_FALSE(request_counts_of(*local));
    CHECK(requests_of(*remote).samples == 50);
    CHECK(read_sample(*remote, 0).origin().to_string() == server.url("/shard-00000.cbs"));
  }
}

TEST_CASE("a shard is opened by three requests, and runs are read at once") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 400, 100, 20'000);
  const FolderServer server(folder.path());
  const auto remote = opened_shards(server.url(), 64);
  const auto opening = requests_of(*remote).requests;
  CHECK(opening == 2 + 4 * 3);  // the index of the set, then each shard
  for (std::uint64_t i = 0; i < remote->size(); ++i) {
    CHECK(shown_record(read_sample(*remote, i)) == expected_record(i, 20'000));
  }
  // 8 MB in runs of 1 MB, of which three go on in the next shard.
  CHECK(requests_of(*remote).requests - opening <= 12);
}

TEST_CASE("an index that is longer than what is read of a shard's end is read whole") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 7000, 7000, 20);
  const FolderServer server(folder.path());
  const auto remote = opened_shards(server.url());
  CHECK(requests_of(*remote).requests == 2 + 4);
  for (const std::uint64_t i : {0U, 3500U, 6999U}) {
    CHECK(shown_record(read_sample(*remote, i)) == expected_record(i, 20));
  }
}

TEST_CASE("what a server has of a set that is missing, cut or changed is refused by its address") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 50, 20, 300);
  const FolderServer server(folder.path());
  const auto refused = [&](const std::string& path = "") {
    return error_of([&] { opened_shards(server.url(path)); });
  };
  CHECK(has(refused("/none"), "3: " + server.url("/none/index.json") + ": HTTP status 404; name"));
  CHECK(has(refused("?signature=secret"), "2: " + server.url() + ": an address with a query"));
  CHECK_FALSE(has(refused("?signature=secret"), "secret"));

  const std::string shard = server.url("/shard-00001.cbs");
  const std::string whole = read_file(folder.path("shard-00001.cbs"));
  for (const std::size_t bytes : {whole.size() - 1, whole.size() / 2, std::size_t{20}}) {
    folder.write("shard-00001.cbs", whole.substr(0, bytes));
    CHECK(has(refused(), "3: " + shard));
  }
  folder.write("shard-00001.cbs", read_file(folder.path("shard-00000.cbs")));
  CHECK(has(refused(), shard + ": is not the shard that index.json names"));
  std::filesystem::remove(folder.path("shard-00001.cbs"));
  CHECK(has(refused(), "3: " + shard + ": HTTP status 404"));
  folder.write("index.json", std::string("{\"format\": 1}"));
  CHECK(has(refused(), server.url("/index.json") + ": "));
  CHECK(has(refused(), "copy the folder"));
}

TEST_CASE("a flipped byte of a shard on a server never gives a wrong sample") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 20, 20, 40);
  const std::string whole = read_file(folder.path("shard-00000.cbs"));
  const FolderServer server(folder.path());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 16);
    folder.write("shard-00000.cbs", flipped);
    const std::string error = error_of([&] {
      const auto remote = opened_shards(server.url());
      for (std::uint64_t i = 0; i < remote->size(); ++i) {
        const std::string text = shown_record(read_sample(*remote, i));
        CHECK(text == expected_record(i, 40));
      }
    });
    CAPTURE(at);
    if (!error.empty()) CHECK(has(error, "3: " + server.url("/shard-00000.cbs")));
    refused += error.empty() ? 0 : 1;
  }
  // What is not of the samples, such as their range in the source, is not looked at.
  CHECK(refused + 10 > whole.size() / 7);
}

TEST_CASE("an index that a server says is huge is not asked for") {
  if (lacks_http_client()) return;
  const ObjectServer server("x", [](int, const std::string&) {
    return std::optional(Said{http_answer(
        "206 Partial Content", "Content-Range: bytes 0-0/1152921504606846976\r\n", "x")});
  });
  const std::string error = error_of([&] { opened_shards(server.url("/set")); });
  CHECK(has(error, "is too large for the index of a prepared data set"));
  CHECK(server.requests() == 1);
}

TEST_CASE("a stop ends the look for a set on a silent server") {
  if (lacks_http_client()) return;
  const SocketServer silent([](const std::string&) { return Said{}; });
  std::stop_source stop;
  stop.request_stop();
  const auto& type = all_stages().stage("read.shards");
  const auto source = type.make(params_of(type, {{"path", silent.url("/set")}}));
  const std::string error =
      error_of([&] { dynamic_cast<RemoteSource&>(*source).look_up({.stop = stop.get_token()}); });
  CHECK(has(error, "130: "));
}

TEST_CASE("what is cached of another set of a server is another thing") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_shard_folder(folder, 20, 20, 40);
  const FolderServer server(folder.path());
  const auto content = [&] {
    const auto source = opened_shards(server.url());
    return content_of({.stages = "", .source = source.get()});
  };
  const std::string before = content();
  CHECK(content() == before);
  write_shard_folder(folder, 20, 20, 60);
  CHECK(content() != before);
}

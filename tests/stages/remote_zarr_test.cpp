// read.zarr over HTTP: the samples of the same array in files, by one request per chunk.
#include <filesystem>
#include <string>
#include <vector>

#include "stages/zarr_files.hpp"
#include "support/errors.hpp"
#include "support/folder_server.hpp"
#include "support/http_client.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/format/crc32c.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/pipeline/source_print.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

RequestCounts asked_of(const SourceStage& source) { return request_counts_of(source).value(); }

/// Four images of 4 x 6, in chunks of 2 x 2 x 3, of which the last is missing.
std::string write_images(const TemporaryFolder& folder, const std::string& name = "images") {
  const std::string path = write_zarr(folder, name, zarr_2({4, 4, 6}, {2, 2, 3}));
  std::uint8_t first = 1;
  for (const char* const image : {"0", "1"}) {
    for (const char* const place : {"0.0", "0.1", "1.0", "1.1"}) {
      const std::string file = std::string(image) + "." + place;
      if (file != "1.1.1") folder.write(name + "/" + file, counting(12, first));
      first += 12;
    }
  }
  return path;
}

/// Four chunks of four bytes, and their table.
Bytes shard_of_four(std::uint8_t first) {
  Bytes shard = counting(16, first);
  Bytes table;
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
    append_number(table, 4 * chunk);
    append_number(table, 4);
  }
  shard.insert(shard.end(), table.begin(), table.end());
  append_number(shard, crc32c({reinterpret_cast<const char*>(table.data()), table.size()}), 4);
  return shard;
}

void check_same_samples(const SourceStage& local, const SourceStage& remote) {
  REQUIRE(remote.size() == local.size());
  for (std::uint64_t i = local.size(); i-- > 0;) {
    CHECK(zarr_sample(remote, i) == zarr_sample(local, i));
  }
}

}  // namespace

TEST_CASE("an array on a server gives the samples of the array in files") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = write_images(folder);
  const FolderServer server(folder.path());
  for (const double cache : {0.0, 1.0}) {
    const auto local = open_zarr(path, {{"chunk_cache_mb", cache}});
    const auto remote = open_zarr(server.url("/images/"), {{"chunk_cache_mb", cache}});
    check_same_samples(*local, *remote);
    CHECK(local->files({0}).size() == 4);
    CHECK(remote->files({0}).empty());
    CHECK_FALSE(request_counts_of(*local));
    CHECK(asked_of(*remote).samples == 4);
    CHECK(read_sample(*remote, 0).origin().to_string() == server.url("/images"));
  }
}

TEST_CASE("a chunk on a server takes one request, and one that is missing none after the first") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const auto image = zarr_2({64, 2, 2}, {1, 2, 2});
  write_zarr(folder, "images", image);
  for (int i = 0; i < 64; ++i) {
    if (i != 33) folder.write("images/" + std::to_string(i) + ".0.0", counting(4));
  }
  const FolderServer server(folder.path());
  const auto remote = open_zarr(server.url("/images"));
  const auto opening = asked_of(*remote).requests;
  CHECK(opening == 2 + 16);  // the metadata; then chunks that tell the array from another
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(zarr_sample(*remote, i).size() == 4);
  CHECK(asked_of(*remote).requests == opening + 64);
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(zarr_sample(*remote, i).size() == 4);
  CHECK(asked_of(*remote).requests == opening + 64 + 63);
  CHECK(asked_of(*remote).failed == 0);
}

TEST_CASE("the chunks of a window are asked for at once") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "images", zarr_2({1, 24, 24}, {1, 8, 8}));
  for (std::uint8_t i = 0; i < 9; ++i) {
    folder.write("images/0." + std::to_string(i / 3) + "." + std::to_string(i % 3),
                 counting(64, static_cast<std::uint8_t>(20 * i)));
  }
  const FolderServer server(folder.path());
  const NamedValues window{{"window", Numbers{16, 16}}, {"step", Numbers{8, 8}}};
  const auto local = open_zarr(path, window);
  const auto remote = open_zarr(server.url("/images"), window);
  REQUIRE(remote->size() == 4);
  for (int epoch = 0; epoch < 2; ++epoch) check_same_samples(*local, *remote);
  CHECK(asked_of(*remote).most_in_flight == 4);
  const auto whole = open_zarr(server.url("/images"));
  check_same_samples(*open_zarr(path), *whole);
  CHECK(asked_of(*whole).most_in_flight == 8);
}

TEST_CASE("shards on a server are read by parts, their tables once") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "images", sharded_3({8, 2, 2}, {4, 2, 2}, {1, 2, 2}));
  folder.write("images/c.0.0.0", shard_of_four(1));
  folder.write("images/c.1.0.0", shard_of_four(101));
  const FolderServer server(folder.path());
  const auto local = open_zarr(path);
  const auto remote = open_zarr(server.url("/images"));
  const auto opening = asked_of(*remote).requests;
  check_same_samples(*local, *remote);
  CHECK(asked_of(*remote).requests == opening + 2 + 8);
}

TEST_CASE("the chunks of a window in a shard are asked for at once") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "images", sharded_3({2, 4, 4}, {1, 4, 4}, {1, 2, 2}));
  folder.write("images/c.0.0.0", shard_of_four(1));
  Bytes with_missing = shard_of_four(101);
  with_missing.resize(16);
  Bytes table;
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
    append_number(table, chunk == 2 ? ~std::uint64_t{0} : 4 * chunk);
    append_number(table, chunk == 2 ? ~std::uint64_t{0} : 4);
  }
  with_missing.insert(with_missing.end(), table.begin(), table.end());
  append_number(with_missing, crc32c({reinterpret_cast<const char*>(table.data()), table.size()}),
                4);
  folder.write("images/c.1.0.0", with_missing);
  const FolderServer server(folder.path());
  for (const double cache : {0.0, 1.0}) {
    const NamedValues values{{"chunk_cache_mb", cache}};
    const auto remote = open_zarr(server.url("/images"), values);
    const auto opening = asked_of(*remote).requests;
    check_same_samples(*open_zarr(path, values), *remote);
    CHECK(asked_of(*remote).requests == opening + 2 + 4 + 3);
    CHECK(asked_of(*remote).most_in_flight == 4);
    check_same_samples(*open_zarr(path, values), *remote);
    CHECK(asked_of(*remote).requests == opening + 2 + (cache > 0 ? 7U : 14U));
  }
}

TEST_CASE("labels and groups on a server") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_images(folder, "set/images");
  write_zarr(folder, "set/labels", zarr_2({4}, {4}));
  folder.write("set/labels/0", counting(4, 7));
  const FolderServer server(folder.path());
  const auto in_group = open_zarr(
      server.url("/set"), {{"array", std::string("images")}, {"labels", std::string("labels")}});
  const auto alone = open_zarr(server.url("/set/images"), {{"labels", std::string("labels")}});
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(read_sample(*in_group, i).field("label").as_integer() == 7 + static_cast<int>(i));
    CHECK(read_sample(*alone, i).field("label").as_integer() == 7 + static_cast<int>(i));
  }
}

TEST_CASE("a server that throttles is asked again") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  const std::string path = write_images(folder);
  const FolderServer server(folder.path(), 1);
  const auto remote = open_zarr(server.url("/images"));
  check_same_samples(*open_zarr(path), *remote);
  CHECK(asked_of(*remote).throttled == 1);
}

TEST_CASE("what a server has of an array that is missing, cut or changed is refused") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_images(folder);
  const FolderServer server(folder.path());
  const auto refused = [&](const std::string& path, const NamedValues& values = {}) {
    return error_of([&] {
      const auto source = open_zarr(server.url(path), values);
      for (std::uint64_t i = 0; i < source->size(); ++i) zarr_sample(*source, i);
    });
  };
  CHECK(has(refused("/none"), "3: " + server.url("/none") + ": has neither .zarray nor zarr.json"));
  CHECK(has(refused("/images?key=secret"), "2: " + server.url("/images") + ": an address with"));
  CHECK_FALSE(has(refused("/images?key=secret"), "secret"));
  CHECK(has(refused("/images",
                    {{"if_missing", std::string("generate")}, {"array", std::string("images")}}),
            "what is generated is a local folder"));

  const std::string chunk = server.url("/images/1.0.1");
  folder.write("images/1.0.1", counting(11));
  CHECK(has(refused("/images"), "3: " + chunk + ": holds a chunk of 11 bytes"));
  folder.write("images/1.0.1", counting(13));
  CHECK(has(refused("/images"), "3: " + chunk + ": holds a chunk of 13 bytes"));
  folder.write("images/1.0.1", Bytes{});
  CHECK(has(refused("/images"), "3: " + chunk));
  write_zarr(folder, "bare", zarr_2({4, 4}, {2, 2}));
  CHECK(has(refused("/bare"), "3: " + server.url("/bare") + ": has no chunks at any place"));
  folder.write("group/.zgroup", std::string("{}"));
  CHECK(has(refused("/group"), "is a group of Zarr; name an array in it"));
}

TEST_CASE("an array that is written anew under its address is another one") {
  if (lacks_http_client()) return;
  const TemporaryFolder folder;
  write_images(folder);
  const FolderServer server(folder.path());
  const auto content = [&] {
    const auto source = open_zarr(server.url("/images"));
    return content_of({.stages = "", .source = source.get()});
  };
  const std::string before = content();
  CHECK(content() == before);
  std::filesystem::remove(folder.path("images/1.0.0"));
  CHECK(content() != before);
}

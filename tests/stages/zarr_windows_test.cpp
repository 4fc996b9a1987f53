// read.zarr: windows, labels, generated data, and which chunks are read.
#include <filesystem>
#include <string>
#include <vector>

#include "stages/datasets/zarr_reader.hpp"
#include "stages/zarr_files.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// The error of opening it, after the path.
std::string zarr_error(const std::string& path, const NamedValues& values = {}) {
  const std::string error = error_of([&] { open_zarr(path, values); });
  return error.substr(0, 3) + error.substr(error.find(path) == 3 ? 3 + path.size() : 3);
}

}  // namespace

TEST_CASE("windows lie on a grid, and those that would reach over the edge are left out") {
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "a", zarr_2({3, 5, 7}, {1, 5, 7}));
  for (std::uint8_t i = 0; i < 3; ++i)
    folder.write("a/" + std::to_string(i) + ".0.0",
                 counting(35, static_cast<std::uint8_t>(50 * i)));
  const auto items = open_zarr(path);
  CHECK(items->size() == 3);
  CHECK(items->infer()[0].shape == Shape{5, 7});
  CHECK(read_sample(*items, 2).field("image").as<std::uint8_t>()[34] == 134);

  const auto in_items = open_zarr(path, {{"window", Numbers{2, 3}}});
  REQUIRE(in_items->size() == 3 * 2 * 2);
  CHECK(in_items->infer()[0].shape == Shape{2, 3});
  CHECK(read_sample(*in_items, 7).field("image").as<std::uint8_t>()[0] == 50 + 2 * 7 + 3);

  const auto whole = open_zarr(path, {{"window", Numbers{2, 2, 3}}, {"step", Numbers{1, 3, 4}}});
  REQUIRE(whole->size() == 2 * 2 * 2);
  CHECK(whole->infer()[0].shape == Shape{2, 2, 3});
  const Sample last = read_sample(*whole, 7);
  CHECK(last.field("image").as<std::uint8_t>()[0] == 50 + 3 * 7 + 4);
  CHECK(last.field("image").as<std::uint8_t>()[6] == 100 + 3 * 7 + 4);
  CHECK_FALSE(whole->generated());
  CHECK(has(error_of([&] { read_sample(*whole, 8); }), "1: sample 8 of 8"));

  const auto refused = [&](const NamedValues& values) { return zarr_error(path, values); };
  CHECK(refused({{"window", Numbers{3}}}) ==
        "2: \"window\" has 1 extents, and the array has 3 axes, [3, 5, 7]: give one for each axis, "
        "or for each but the first");
  CHECK(refused({{"window", Numbers{6, 3}}}) ==
        "2: \"window\" is larger than the array: 6 of 5 along axis 1 of [3, 5, 7]");
  CHECK(refused({{"window", Numbers{2, 3}}, {"step", Numbers{1, 2, 3}}}) ==
        "2: \"step\" has 3 extents; give it as many as \"window\" has, 2");
  CHECK(refused({{"window", Numbers{2, 2.5}}}) == "2: \"window\" must be whole numbers");
  CHECK(refused({{"step", Numbers{1, 1}}}) == "2: \"step\" is of a \"window\", which is not given");
}

TEST_CASE("labels are one for each item, or one for each sample") {
  const TemporaryFolder folder;
  const std::string path = write_zarr(folder, "a", zarr_2({3, 4}, {3, 4}));
  folder.write("a/0.0", counting(12));
  write_zarr(folder, "three", zarr_2({3}, {2}, ">i4"));
  folder.write("three/0", Bytes{0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 0xFE});
  folder.write("three/1", Bytes{0, 1, 0, 0, 9, 9, 9, 9});
  write_zarr(folder, "six", zarr_3({6}, {4}));
  folder.write("six/c.0", counting(4, 10));
  folder.write("six/c.1", counting(4, 14));
  const auto labels = [&](const NamedValues& values) {
    const auto source = open_zarr(path, values);
    CHECK(source->infer().at(1).name == "label");
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < source->size(); ++i)
      all.push_back(read_sample(*source, i).field("label").as_integer());
    return all;
  };
  using All = std::vector<std::int64_t>;
  CHECK(labels({{"labels", std::string("three")}}) == All{5, -2, 65'536});
  CHECK(labels({{"labels", std::string("three")}, {"window", Numbers{2}}}) ==
        All{5, 5, -2, -2, 65'536, 65'536});
  CHECK(labels({{"labels", std::string("six")}, {"window", Numbers{2}}}) ==
        All{10, 11, 12, 13, 14, 15});
  CHECK(labels({{"labels", std::string("six")}, {"window", Numbers{1, 2}}}) ==
        All{10, 11, 12, 13, 14, 15});
  CHECK(read_sample(*open_zarr(path), 0).find("label") == nullptr);

  const auto refused = [&](const std::string& name, const nlohmann::json& array) {
    const std::string other = write_zarr(folder, name, array);
    folder.write(name + "/0", counting(1));
    const std::string error = zarr_error(path, {{"labels", name}, {"window", Numbers{2}}});
    CHECK(has(error, other));
    return error.substr(0, 3) + error.substr(error.find(other) + other.size());
  };
  CHECK(
      refused("four", zarr_2({4}, {4})) ==
      "2: : has the shape [4]; labels are a list of 6, one for each sample, or of 3, one for each "
      "item");
  CHECK(has(refused("table", zarr_2({3, 1}, {3, 1})), "has the shape [3, 1]"));
  CHECK(has(refused("real", zarr_2({3}, {3}, "<f4")), "has elements of float32; labels are whole"));
  CHECK(has(refused("vast", zarr_2({std::int64_t{1} << 40}, {1})), "labels are a list of 6"));
  CHECK(has(refused("cut", zarr_2({3}, {3})), "0: holds a chunk of 1 bytes"));
  write_zarr(folder, "none", zarr_2({3}, {3}));
  CHECK(has(zarr_error(path, {{"labels", std::string("none")}}), "has no chunks"));
  CHECK(has(zarr_error(path, {{"labels", std::string("absent")}}), "has neither .zarray nor"));

  const NamedValues in_group{{"array", std::string("a")}, {"labels", std::string("three")}};
  const auto group = open_zarr(folder.path(), in_group);
  CHECK(read_sample(*group, 2).field("label").as_integer() == 65'536);
  CHECK(group->files({0})[0].path == path + "/0.0");
}

TEST_CASE("data that is missing is generated, with labels") {
  const TemporaryFolder folder;
  const std::string path = folder.path("images.zarr");
  const NamedValues values{{"array", std::string("images")},
                           {"labels", std::string("labels")},
                           {"window", Numbers{128, 128, 3}},
                           {"if_missing", std::string("generate")},
                           {"generated_samples", std::int64_t{10}}};
  for (int times = 0; times < 2; ++times) {
    const auto source = open_zarr(path, values);
    CHECK(source->generated());
    REQUIRE(source->size() == 40);
    CHECK(source->infer()[0].shape == Shape{128, 128, 3});
    CHECK(read_sample(*source, 39).field("label").as_integer() == 9);
    CHECK(zarr_sample(*source, 0) != zarr_sample(*source, 1));
    CHECK(source->files({5}).size() == 1);
  }
  CHECK(has(zarr_error(folder.path("other"), {{"if_missing", std::string("generate")}}),
            "what is generated is the array \"images\""));
  CHECK(has(zarr_error(folder.path("other")), "has neither .zarray nor zarr.json"));
}

TEST_CASE("a window decodes the chunks that it touches, and no others") {
  const TemporaryFolder folder;
  for (const bool sharded : {false, true}) {
    const std::string name = sharded ? "sharded" : "plain";
    // 4 x 4 chunks of 3 x 3; shards have 2 x 2 of them.
    nlohmann::json array = sharded ? sharded_3({12, 12}, {6, 6}, {3, 3}) : zarr_3({12, 12}, {3, 3});
    array["codecs"] = sharded ? array["codecs"] : codecs_3();
    if (sharded) {
      array["codecs"][0]["configuration"]["index_codecs"] = codecs_3();
      for (int shard = 0; shard < 4; ++shard) {
        Bytes bytes = counting(36);
        for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
          append_number(bytes, 9 * chunk);
          append_number(bytes, 9);
        }
        folder.write(name + "/c." + std::to_string(shard / 2) + "." + std::to_string(shard % 2),
                     bytes);
      }
    } else {
      for (int chunk = 0; chunk < 16; ++chunk) {
        folder.write(name + "/c." + std::to_string(chunk / 4) + "." + std::to_string(chunk % 4),
                     counting(9));
      }
    }
    const std::string path = write_zarr(folder, name, array);
    const auto decoded = [&](const stages::ArrayBox& box, std::size_t cache_bytes, int times) {
      const stages::ZarrReader reader(stages::load_zarr_array(path, stages::ChunkFiles()),
                                      cache_bytes);
      std::vector<std::byte> out(static_cast<std::size_t>(box.extent.elements()));
      for (int i = 0; i < times; ++i) reader.read(box, out.data());
      return reader.decoded();
    };
    CAPTURE(name);
    CHECK(decoded({{0, 0}, {3, 3}}, 0, 1) == 1);
    CHECK(decoded({{2, 0}, {2, 3}}, 0, 1) == 2);
    CHECK(decoded({{1, 1}, {3, 3}}, 0, 1) == 4);
    CHECK(decoded({{2, 2}, {8, 2}}, 0, 1) == 8);
    CHECK(decoded({{0, 0}, {12, 12}}, 0, 1) == 16);
    CHECK(decoded({{1, 1}, {3, 3}}, 0, 5) == 20);
    CHECK(decoded({{1, 1}, {3, 3}}, 36, 5) == 4);
    CHECK(decoded({{1, 1}, {3, 3}}, 27, 5) > 4);
    CHECK(decoded({{1, 1}, {3, 3}}, 8, 5) == 20);

    const auto windows = open_zarr(path, {{"window", Numbers{2, 3}}, {"step", Numbers{1, 3}}});
    const std::vector<FileRange> files = windows->files({2 * 4 + 2});
    REQUIRE(files.size() == (sharded ? 1 : 2));
    CHECK(files[0].path == path + (sharded ? "/c.0.1" : "/c.0.2"));
    CHECK(files[0].bytes == FileRange::kToEnd);
    std::filesystem::remove_all(folder.path(name));
    CHECK(windows->files({2 * 4 + 2}).size() == files.size());
  }
}

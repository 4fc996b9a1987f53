// read.hdf5: windows, and packed values as read.netcdf has them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/hdf5_sets.hpp"
#include "support/files.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using WindowExtent = std::vector<double>;
using SetParams = std::vector<NamedValue>;
// It is an HDF5 file as well.
const std::string kNetcdfFour = CACHEBISECT_SOURCE_DIR "/tests/fixtures/netcdf/four.nc";

/// Rows from `row` and columns from `column` on, out of the items of a source.
std::vector<std::byte> item_parts(SourceStage& items, std::size_t row, std::size_t rows,
                                  std::size_t column, std::size_t columns) {
  std::vector<std::byte> bytes;
  const std::size_t element = size_of(items.infer()[0].dtype);
  for (std::size_t r = row; r < row + rows; ++r) {
    const std::vector<std::byte> item = item_bytes(items, r);
    const auto first = item.begin() + static_cast<std::ptrdiff_t>(column * element);
    bytes.insert(bytes.end(), first, first + static_cast<std::ptrdiff_t>(columns * element));
  }
  return bytes;
}

}  // namespace

TEST_CASE("windows of a data set are parts of its items") {
  if (!built_with_hdf5()) return;
  for (const std::string name : {"contiguous-big-f8", "gzip-shuffle-f4", "lzf-f2", "gzip-bool",
                                 "gzip-i8", "chunked-u1", "missing-i4"}) {
    CAPTURE(name);
    const auto items = open_set(kHdf5Sets, name);
    const auto within =
        open_set(kHdf5Sets, name, {{"window", WindowExtent{10}}, {"step", WindowExtent{15}}});
    REQUIRE(within->size() == 5 * 3);
    CHECK(within->infer()[0].shape == Shape{10});
    for (std::uint64_t i = 0; i < within->size(); ++i)
      REQUIRE(item_bytes(*within, i) == item_parts(*items, i / 3, 1, i % 3 * 15, 10));

    const auto across =
        open_set(kHdf5Sets, name, {{"window", WindowExtent{2, 18}}, {"step", WindowExtent{1, 11}}});
    REQUIRE(across->size() == 4 * 3);
    CHECK(across->infer()[0].shape == Shape{2, 18});
    for (std::uint64_t i = 0; i < across->size(); ++i)
      REQUIRE(item_bytes(*across, i) == item_parts(*items, i / 3, 2, i % 3 * 11, 18));
  }
}

TEST_CASE("a window reads the chunks that it touches, and no others") {
  if (!built_with_hdf5()) return;
  const auto chunks_of = [](const SetParams& window, std::uint64_t index) {
    return open_set(kHdf5Sets, "chunked-u1", window)->files({index}).size();  // chunks are 3 x 16
  };
  const SetParams small{{"window", WindowExtent{8}}};
  CHECK(chunks_of(small, 0) == 1);
  CHECK(chunks_of(small, 1) == 1);
  const SetParams shifted{{"window", WindowExtent{16}}, {"step", WindowExtent{8}}};
  CHECK(chunks_of(shifted, 0) == 1);
  CHECK(chunks_of(shifted, 1) == 2);
  CHECK(chunks_of({{"window", WindowExtent{4, 40}}}, 0) == 6);

  // All but the chunk of the first window are damaged.
  const auto whole = open_set(kHdf5Sets, "gzip-i8", small);
  const FileRange kept = whole->files({0}).front();
  std::string bytes = read_file(kHdf5Sets);
  for (std::uint64_t i = 0; i < whole->size(); ++i) {
    for (const FileRange& chunk : whole->files({i})) {
      if (chunk.offset == kept.offset) continue;
      for (std::uint64_t at = 0; at < chunk.bytes; ++at)
        bytes[chunk.offset + at] = static_cast<char>(0xE0U | at % 32U);
    }
  }
  const TemporaryFolder folder;
  const std::string damaged = folder.write("a.h5", bytes);
  const auto left = open_set(damaged, "gzip-i8", small);
  CHECK(item_bytes(*left, 0) == item_bytes(*whole, 0));
  CHECK(item_bytes(*left, 6) == item_bytes(*whole, 6));  // the second item, in the same chunk
  CHECK(has(error_of([&] { read_sample(*left, 2); }),
            "3: " + damaged + ": the data set \"gzip-i8\" item 0 cannot be read: "));
}

TEST_CASE("labels are one for each item, or one for each window") {
  if (!built_with_hdf5()) return;
  const std::int64_t labels[] = {5, -2, 65'536, 0, 7};
  const SetParams labelled{{"labels", std::string("labels")}};
  const auto label_at = [](const SourceStage& source, std::uint64_t index) {
    return read_sample(source, index).field("label").as_integer();
  };
  SetParams within = labelled;
  within.push_back({"window", WindowExtent{20}});
  const auto windows = open_set(kHdf5Sets, "gzip-i8", within);
  REQUIRE(windows->size() == 10);
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(label_at(*windows, i) == labels[i / 2]);
  SetParams across = labelled;
  across.push_back({"window", WindowExtent{1, 40}});
  const auto samples = open_set(kHdf5Sets, "gzip-i8", across);
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(label_at(*samples, i) == labels[i]);
  SetParams too_many = labelled;
  too_many.push_back({"window", WindowExtent{1, 20}});
  CHECK(has(set_error(kHdf5Sets, "gzip-i8", too_many),
            "2: : the data set \"labels\": has the shape [5]; labels are a list of 10, one for "
            "each sample"));
}

TEST_CASE("windows that do not fit are refused by parameter") {
  if (!built_with_hdf5()) return;
  const auto refused = [](const std::string& name, const SetParams& values) {
    return set_error(kHdf5Sets, name, values);
  };
  CHECK(has(refused("gzip-i8", {{"window", WindowExtent{41}}}),
            "2: \"window\" is larger than the array: 41 of 40 along axis 1"));
  CHECK(has(refused("gzip-i8", {{"window", WindowExtent{1, 2, 3}}}), "\"window\" has 3 extents"));
  CHECK(has(refused("gzip-i8", {{"step", WindowExtent{4}}}),
            "2: \"step\" is of a \"window\", which is not given"));
  CHECK(has(refused("many-chunks", {{"window", WindowExtent{1e9, 16}}}),
            "2: : the data set \"many-chunks\": a sample would be [1000000000, 16], more than 1 "
            "GiB; give a smaller \"window\""));
}

TEST_CASE("types that no tensor has are widened") {
  if (!built_with_hdf5()) return;
  CHECK(open_set(kHdf5Sets, "i2")->infer()[0].dtype == DType::int32);
  CHECK(open_set(kHdf5Sets, "u4")->infer()[0].dtype == DType::int64);
}

TEST_CASE("unpacked values are those that read.netcdf gives of the same file") {
  if (!built_with_hdf5()) return;
  for (const std::string name :
       {"plain-i1", "plain-i2", "plain-u2", "plain-u4", "plain-i8", "plain-f8", "packed",
        "packed-wide", "filled", "unwritten", "unsigned", "forecast/deep"}) {
    CAPTURE(name);
    const auto here = open_set(kNetcdfFour, name, {{"unpack", true}});
    const auto there = make_source("read.netcdf", kNetcdfFour, {{"variable", name}});
    there->open();
    REQUIRE(here->size() == there->size());
    CHECK(here->infer()[0].dtype == there->infer()[0].dtype);
    CHECK(here->infer()[0].shape == there->infer()[0].shape);
    for (std::uint64_t i = 0; i < here->size(); ++i)
      REQUIRE(item_bytes(*here, i) == item_bytes(*there, i));
  }
}

TEST_CASE("without unpacking the numbers are as stored, whatever attributes say") {
  if (!built_with_hdf5()) return;
  const auto packed = open_set(kNetcdfFour, "packed");
  CHECK(packed->infer()[0].dtype == DType::int32);
  const auto stored = make_source("read.netcdf", kNetcdfFour,
                                  {{"variable", std::string("packed")}, {"unpack", false}});
  stored->open();
  CHECK(item_bytes(*packed, 1) == item_bytes(*stored, 1));
  CHECK(open_set(kNetcdfFour, "unsigned")->infer()[0].dtype == DType::int8);
}

TEST_CASE("an unlimited dimension is as long as this data set was written") {
  if (!built_with_hdf5()) return;
  CHECK(open_set(kNetcdfFour, "short")->size() == 3);
}

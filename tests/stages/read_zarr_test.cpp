// read.zarr: arrays that zarr-python wrote, as wholes and in windows.
#include <atomic>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "stages/datasets/zarr_reader.hpp"
#include "stages/zarr_files.hpp"
#include "support/errors.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// An array that zarr-python wrote, and the bytes that it reads.
struct Written {
  std::string name;
  std::string type;
  Numbers shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::string path() const {
    return CACHEBISECT_SOURCE_DIR "/tests/fixtures/zarr/" + name;
  }
};

std::vector<Written> written_arrays() {
  std::vector<Written> arrays;
  for (const char* version : {"2", "3"}) {
    std::istringstream lines(read_file(CACHEBISECT_SOURCE_DIR "/tests/fixtures/zarr/expected-" +
                                       std::string(version) + ".txt"));
    Written array;
    std::string shape;
    std::string hex;
    while (lines >> array.name >> array.type >> shape >> hex) {
      array.shape.clear();
      std::istringstream extents(shape);
      for (std::string extent; std::getline(extents, extent, ',');)
        array.shape.push_back(std::stod(extent));
      array.bytes.clear();
      for (std::size_t i = 0; i < hex.size(); i += 2)
        array.bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      arrays.push_back(array);
    }
  }
  return arrays;
}

/// Null if this build lacks the library that the array needs, which the error names.
std::unique_ptr<SourceStage> open_if_built(const Written& array, const NamedValues& values) {
  try {
    return open_zarr(array.path(), values);
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(has(message, "this build has no "));
    CHECK(has(message, has(array.name, "blosc") ? "libblosc" : "libzstd"));
    return nullptr;
  }
}

/// The elements of a window of a 2-dimensional array.
std::vector<std::byte> cut(const Written& array, std::size_t row, std::size_t column,
                           std::size_t rows, std::size_t columns) {
  const auto width = static_cast<std::size_t>(array.shape[1]);
  const std::size_t element = array.bytes.size() / width / static_cast<std::size_t>(array.shape[0]);
  std::vector<std::byte> part;
  for (std::size_t r = row; r < row + rows; ++r) {
    const auto from =
        array.bytes.begin() + static_cast<std::ptrdiff_t>((r * width + column) * element);
    part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>(columns * element));
  }
  return part;
}

}  // namespace

TEST_CASE("arrays have the values that zarr-python reads from them") {
  const std::vector<Written> arrays = written_arrays();
  CHECK(arrays.size() == 33);
  std::size_t read = 0;
  for (const Written& array : arrays) {
    CAPTURE(array.name);
    const auto whole = open_if_built(array, {{"window", array.shape}});
    if (!whole) continue;
    REQUIRE(whole->size() == 1);
    CHECK(read_sample(*whole, 0).origin().to_string() == array.path());
    CHECK(to_string(whole->infer()[0].dtype) == array.type);
    CHECK(zarr_sample(*whole, 0) == array.bytes);
    ++read;

    const auto items = open_zarr(array.path());
    REQUIRE(items->size() == 5);
    CHECK(items->infer()[0].shape == Shape{static_cast<std::int64_t>(array.shape[1])});
    for (std::uint64_t i = 0; i < 5; ++i) {
      CHECK(zarr_sample(*items, i) ==
            cut(array, i, 0, 1, static_cast<std::size_t>(array.shape[1])));
    }
  }
  CHECK(read >= 12);
}

TEST_CASE("windows at every place are cut out of the chunks, with and without kept chunks") {
  for (const Written& array : written_arrays()) {
    CAPTURE(array.name);
    for (const double cache : {0.0, 1.0}) {
      const auto windows = open_if_built(
          array, {{"window", Numbers{2, 3}}, {"step", Numbers{1, 1}}, {"chunk_cache_mb", cache}});
      if (!windows) continue;
      const auto columns = static_cast<std::uint64_t>(array.shape[1]) - 2;
      REQUIRE(windows->size() == 4 * columns);
      for (std::uint64_t i = 0; i < windows->size(); ++i)
        REQUIRE(zarr_sample(*windows, i) == cut(array, i / columns, i % columns, 2, 3));
    }
  }
}

TEST_CASE("threads read at once what one thread reads") {
  for (const double cache : {0.0, 1e-3}) {
    for (const Written& array : written_arrays()) {
      if (!has(array.name, "sharded") && !has(array.name, "gzip")) continue;
      const auto source = open_if_built(
          array, {{"window", Numbers{3, 2}}, {"step", Numbers{1, 1}}, {"chunk_cache_mb", cache}});
      if (!source) continue;
      std::vector<std::vector<std::byte>> expected;
      for (std::uint64_t i = 0; i < source->size(); ++i)
        expected.push_back(zarr_sample(*source, i));
      std::atomic<int> wrong{0};
      std::vector<std::jthread> threads;
      for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (std::uint64_t n = 0; n < 20 * expected.size(); ++n) {
            const std::uint64_t i = (n * 7 + t) % expected.size();
            if (zarr_sample(*source, i) != expected[i]) ++wrong;
          }
        });
      }
      threads.clear();
      CHECK(wrong == 0);
    }
  }
}

// read.netcdf: files that are damaged, cut off or claim what they do not hold.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kNetcdfFolder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/netcdf/";

/// The error of reading each sample of a variable, after the file's path.
std::string error_of_file(const std::string& file, const std::string& name = "x") {
  const std::string error = error_of([&] {
    const auto source = make_source("read.netcdf", file, {{"variable", name}});
    source->open();
    for (std::uint64_t i = 0; i < source->size(); ++i) static_cast<void>(read_sample(*source, i));
  });
  const std::size_t at = error.find(file);
  return at == std::string::npos ? error : error.substr(0, 3) + error.substr(at + file.size());
}

std::string big(std::uint64_t value, int bytes = 4) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
  return text;
}

/// A file of CDF-1, or of CDF-5, with one variable "x".
struct OneVariable {
  std::uint64_t records = 0;
  std::vector<std::uint64_t> dims{2, 3};
  std::uint64_t type = 1;
  std::uint64_t begin = 200;
  std::string data = std::string(200, '\1');

  [[nodiscard]] std::string bytes(char version = 1) const {
    const int wide = version == 5 ? 8 : 4;
    const auto count = [&](std::uint64_t value) { return big(value, wide); };
    std::string file = "CDF" + std::string(1, version) + count(records) + big(10);
    file += count(dims.size());
    for (const std::uint64_t dim : dims) file += count(1) + "d" + std::string(3, '\0') + count(dim);
    file += big(0) + count(0) + big(11) + count(1) + count(1) + "x" + std::string(3, '\0');
    file += count(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) file += count(i);
    file += big(0) + count(0) + big(type) + count(0) + big(begin, version == 1 ? 4 : 8);
    file.resize(200, '\0');
    return file + data;
  }
};

}  // namespace

TEST_CASE("headers that claim what the file does not hold are refused before memory is taken") {
  const TemporaryFolder folder;
  const auto refused = [&](const OneVariable& variable, char version = 1) {
    std::filesystem::remove(folder.path("a.nc"));
    return error_of_file(folder.write("a.nc", variable.bytes(version)));
  };
  CHECK(refused({}).empty());
  CHECK(refused({}, 2).empty());
  CHECK(refused({}, 5).empty());
  CHECK(refused({.records = 3, .dims = {0, 3}}).empty());
  CHECK(refused({.records = 0xFFFF'FFFF, .dims = {0, 3}}).empty());  // written as a stream
  CHECK(has(refused({.records = 1, .dims = {2, 0}}), "dimension that is not the first"));
  CHECK(has(refused({.records = 0, .dims = {0, 3}}), "3: : the variable \"x\" has no elements"));
  CHECK(has(refused({.dims = {}}), "has 0 axes; 1 to 6 can be read"));
  CHECK(has(refused({.dims = std::vector<std::uint64_t>(5, 1)}), ""));
  CHECK(has(refused({.type = 2}), "is text, which is no number"));
  CHECK(has(refused({.type = 12}), "has a variable of an unknown type"));
  CHECK(has(refused({.dims = {100, 3}}),
            "ends at byte 200 + 300, and the file has 400: it is not whole"));
  CHECK(has(refused({.records = 0x7FFF'FFFF, .dims = {0, 3}}), "it is not whole"));
  CHECK(has(refused({.begin = 0xFFFF'FFFF}), "it is not whole"));
  const std::uint64_t vast = std::uint64_t{1} << 60U;
  CHECK(has(refused({.dims = {vast}}, 5), "it is not whole"));
  CHECK(has(refused({.dims = {vast, vast}}, 5), "claims more elements than fit 64 bits"));
  CHECK(has(refused({.dims = {~std::uint64_t{0}}}, 5), "claims more elements than fit 64 bits"));
  CHECK(has(refused({.records = vast, .dims = {0, 3}}, 5), "it is not whole"));
  CHECK(has(refused({.records = ~std::uint64_t{1}, .dims = {0, 3}}, 5), "claims more elements"));
  CHECK(has(refused({}, 7), "3: : is no whole NetCDF file: at byte 4 the header is of an unknown"));
}

TEST_CASE("what is no NetCDF file is refused by name") {
  const TemporaryFolder folder;
  const auto of_bytes = [&](const std::string& bytes) {
    std::filesystem::remove(folder.path("a.nc"));
    return error_of_file(folder.write("a.nc", bytes));
  };
  CHECK(has(of_bytes(""), "3: : is no NetCDF file"));
  CHECK(has(of_bytes("CD"), "3: : is no NetCDF file"));
  CHECK(has(of_bytes(std::string(5000, 'x')), "3: : is no NetCDF file"));
  CHECK(has(error_of_file(folder.path("none.nc")), "3: : "));
  CHECK(has(error_of_file(folder.path()), "is a folder, not a file"));
  const std::string count_only = "CDF\1" + big(0) + big(10) + big(0x7FFF'FFFF);
  CHECK(has(of_bytes(count_only), "the header claims more than the file holds"));
}

TEST_CASE("a file that is cut off anywhere is refused, or its variable is whole") {
  const TemporaryFolder folder;
  const std::string whole = read_file(kNetcdfFolder + "classic.nc");
  const auto packed = make_source("read.netcdf", kNetcdfFolder + "classic.nc",
                                  {{"variable", std::string("packed")}});
  const FileRange last = packed->files({4}).back();
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); size += 61) {
    std::filesystem::remove(folder.path("a.nc"));
    const std::string file = folder.write("a.nc", whole.substr(0, size));
    const std::string error = error_of_file(file, "packed");
    CAPTURE(size);
    CHECK(error.empty() == (size >= last.offset + last.bytes));
    CHECK((error.empty() || has(error, "3: : ")));
    refused += error.empty() ? 0 : 1;
  }
  CHECK(refused > 100);
}

TEST_CASE("flipped bits never crash: samples or an error of the data") {
  const TemporaryFolder folder;
  const std::string whole = read_file(kNetcdfFolder + "classic.nc");
  for (std::size_t at = 0; at < 4000; at += 7) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 0xFFU);
    std::filesystem::remove(folder.path("a.nc"));
    const std::string error = error_of_file(folder.write("a.nc", bytes), "packed");
    CAPTURE(at);
    CHECK((error.empty() || error.starts_with("3: ") || error.starts_with("2: ")));
  }
}

TEST_CASE("a damaged chunk of NetCDF-4 is refused by its item, and so is half a file") {
  const TemporaryFolder folder;
  std::string bytes = read_file(kNetcdfFolder + "four.nc");
  const std::string half = folder.write("half.nc", bytes.substr(0, bytes.size() / 2));
  if (has(error_of_file(half, "packed"), "this build has no HDF5")) return;
  CHECK(has(error_of_file(half, "packed"), "3: : is no whole HDF5 file: "));
  const auto whole =
      make_source("read.netcdf", kNetcdfFolder + "four.nc", {{"variable", std::string("packed")}});
  const FileRange chunk = whole->files({0}).front();
  for (std::uint64_t i = 0; i < chunk.bytes; ++i)
    bytes[chunk.offset + i] = static_cast<char>(0xE0U | i % 32U);
  CHECK(has(error_of_file(folder.write("a.nc", bytes), "packed"),
            "3: : the variable \"packed\" item 0 cannot be read: "));
}

// read.netcdf: variables that netCDF4 wrote in each format, windows, labels, places in the file.
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using NetcdfParams = std::vector<NamedValue>;
using WindowSize = std::vector<double>;
const std::string kNetcdfFiles = CACHEBISECT_SOURCE_DIR "/tests/fixtures/netcdf/";
const std::string kClassic = kNetcdfFiles + "classic.nc";
const std::string kFour = kNetcdfFiles + "four.nc";

std::unique_ptr<SourceStage> open_variable(const std::string& file, const std::string& name,
                                           NetcdfParams values = {}) {
  values.push_back({"variable", name});
  auto source = make_source("read.netcdf", file, values);
  source->open();
  return source;
}

/// Whether this build reads NetCDF-4; if not, the error says what would be right.
bool reads_netcdf_4() {
  const std::string error = error_of([] { open_variable(kFour, "fixed"); });
  if (error.empty()) return true;
  CHECK(has(error, "2: " + kFour + ": is NetCDF-4, and this build has no HDF5 (libhdf5); build"));
  return false;
}

std::vector<std::byte> all_bytes(const SourceStage& source) {
  std::vector<std::byte> all;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const auto item = test::bytes_of(read_sample(source, i).field("image").view());
    all.insert(all.end(), item.begin(), item.end());
  }
  return all;
}

/// Equal bytes, or two NaNs, of which there are many.
bool same_values(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return false;
  const std::size_t bytes = size_of(dtype);
  const auto is_nan = [&](const std::byte* at) {
    if (dtype == DType::float32) {
      float value = 0;
      std::memcpy(&value, at, sizeof value);
      return std::isnan(value);
    }
    double value = 0;
    if (dtype == DType::float64) std::memcpy(&value, at, sizeof value);
    return std::isnan(value);
  };
  for (std::size_t at = 0; at < a.size(); at += bytes) {
    const bool equal = std::memcmp(a.data() + at, b.data() + at, bytes) == 0;
    if (!equal && !(is_nan(a.data() + at) && is_nan(b.data() + at))) return false;
  }
  return true;
}

/// The error of opening this variable and reading its first sample, after the file's path.
std::string variable_error(const std::string& file, const std::string& name,
                           const NetcdfParams& values = {}) {
  const std::string error =
      error_of([&] { static_cast<void>(read_sample(*open_variable(file, name, values), 0)); });
  const std::size_t at = error.find(file);
  return at == std::string::npos ? error : error.substr(0, 3) + error.substr(at + file.size());
}

}  // namespace

TEST_CASE("variables have the values that netCDF4 reads from them, missing ones NaN") {
  const bool four = reads_netcdf_4();
  std::istringstream lines(read_file(kNetcdfFiles + "expected.txt"));
  std::string file;
  std::string name;
  std::string type;
  std::string shape;
  std::string hex;
  std::size_t variables = 0;
  for (; lines >> file >> name >> type >> shape >> hex; ++variables) {
    if (file == "four.nc" && !four) continue;
    CAPTURE(file);
    CAPTURE(name);
    const auto source = open_variable(kNetcdfFiles + file, name);
    const FieldSpec spec = source->infer()[0];
    std::vector<std::int64_t> dims{static_cast<std::int64_t>(source->size())};
    for (const std::int64_t dim : spec.shape.dims()) dims.push_back(dim);
    std::string found;
    for (const std::int64_t dim : dims) found += (found.empty() ? "" : ",") + std::to_string(dim);
    CHECK(found == shape);
    REQUIRE(to_string(spec.dtype) == type);
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      expected.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    CHECK(same_values(spec.dtype, all_bytes(*source), expected));
    CHECK(read_sample(*source, 0).origin().to_string() == kNetcdfFiles + file);
    CHECK(has(error_of([&] { read_sample(*source, source->size()); }), "1: sample "));
  }
  CHECK(variables == 62);
}

TEST_CASE("without unpacking the numbers are as stored") {
  const auto source = open_variable(kClassic, "packed", {{"unpack", false}});
  CHECK(source->infer()[0].dtype == DType::int32);
  const Sample sample = read_sample(*source, 1);
  CHECK(sample.field("image").as<std::int32_t>()[2 * 7 + 3] == -32'767);
  const auto filled = open_variable(kClassic, "filled", {{"unpack", false}});
  CHECK(read_sample(*filled, 0).field("image").as<float>()[7] == -999.0F);
}

TEST_CASE("windows of a variable are those of its items") {
  std::vector<std::string> files{kClassic, kNetcdfFiles + "data.nc"};
  if (reads_netcdf_4()) files.push_back(kFour);
  for (const std::string& file : files) {
    for (const std::string name : {"plain-i4", "packed", "fixed"}) {
      CAPTURE(file);
      CAPTURE(name);
      const auto items = open_variable(file, name);
      const auto windows =
          open_variable(file, name, {{"window", WindowSize{2, 3}}, {"step", WindowSize{2, 4}}});
      REQUIRE(windows->size() == 5 * 3 * 2);
      CHECK(windows->infer()[0].shape == Shape{2, 3});
      const std::size_t bytes = size_of(items->infer()[0].dtype);
      for (std::uint64_t i = 0; i < windows->size(); ++i) {
        const auto item = test::bytes_of(read_sample(*items, i / 6).field("image").view());
        const auto window = test::bytes_of(read_sample(*windows, i).field("image").view());
        const std::size_t row = i % 6 / 2 * 2;
        const std::size_t column = i % 2 * 4;
        for (std::size_t r = 0; r < 2; ++r) {
          const std::byte* expected = item.data() + ((row + r) * 7 + column) * bytes;
          REQUIRE(std::memcmp(window.data() + r * 3 * bytes, expected, 3 * bytes) == 0);
        }
      }
      const auto across = open_variable(file, name, {{"window", WindowSize{2, 6, 7}}});
      CHECK(across->size() == 2);
      CHECK(same_values(items->infer()[0].dtype,
                        test::bytes_of(read_sample(*across, 0).field("image").view()), [&] {
                          auto all = all_bytes(*items);
                          all.resize(2 * 42 * bytes);
                          return all;
                        }()));
    }
  }
  CHECK(has(variable_error(kClassic, "packed", {{"window", WindowSize{7, 3}}}),
            "2: \"window\" is larger than the array: 7 of 6 along axis 1"));
  CHECK(has(variable_error(kClassic, "packed", {{"step", WindowSize{7, 3}}}),
            "2: \"step\" is of a \"window\", which is not given"));
}

TEST_CASE("labels are a variable of the same file, one for each item or sample") {
  const std::array<std::int64_t, 5> numbers{5, -2, 65'536, 0, 7};
  std::vector<std::string> files{kClassic};
  if (reads_netcdf_4()) files.push_back(kFour);
  for (const std::string& file : files) {
    const auto source = open_variable(file, "packed", {{"labels", std::string("labels")}});
    CHECK(source->infer().at(1).name == "label");
    for (std::uint64_t i = 0; i < 5; ++i)
      CHECK(read_sample(*source, i).field("label").as_integer() == numbers[i]);
    const auto windows = open_variable(
        file, "packed", {{"labels", std::string("labels")}, {"window", WindowSize{3, 7}}});
    for (std::uint64_t i = 0; i < 10; ++i)
      CHECK(read_sample(*windows, i).field("label").as_integer() == numbers[i / 2]);
    const auto refused = [&](const std::string& name) {
      return variable_error(file, "packed", {{"labels", name}});
    };
    CHECK(refused("labels-few") ==
          "2: : the variable \"labels-few\": has the shape [6]; labels are a list of 5, one for "
          "each sample");
    CHECK(has(refused("fixed"), "has elements of float32; labels are whole numbers"));
  }
  CHECK(has(variable_error(kClassic, "packed", {{"labels", std::string("none")}}),
            "3: : there is no variable \"none\"; there are \"plain-i1\", "));
}

TEST_CASE("the place of a sample is that of its bytes") {
  const std::string bytes = read_file(kClassic);
  for (const std::string name : {"plain-i1", "fixed"}) {
    const auto source = open_variable(kClassic, name);
    for (std::uint64_t i = 0; i < 5; ++i) {
      auto item = test::bytes_of(read_sample(*source, i).field("image").view());
      const auto places = source->files({i});
      REQUIRE(places.size() == 1);
      REQUIRE(places[0].bytes == item.size());
      if (name == "fixed") {  // big-endian in the file
        for (std::size_t at = 0; at < item.size(); at += 4) {
          std::swap(item[at], item[at + 3]);
          std::swap(item[at + 1], item[at + 2]);
        }
      }
      CHECK(std::memcmp(bytes.data() + places[0].offset, item.data(), item.size()) == 0);
    }
  }
  const auto across = open_variable(kClassic, "plain-i1", {{"window", WindowSize{2, 6, 7}}});
  CHECK(across->files({1}).size() == 2);
  if (!reads_netcdf_4()) return;
  const auto window = open_variable(kFour, "plain-i1", {{"window", WindowSize{3, 4}}});
  CHECK(window->files({0}).size() == 1);  // chunks are 2 x 3 x 4
  const auto shifted =
      open_variable(kFour, "plain-i1", {{"window", WindowSize{4, 5}}, {"step", WindowSize{1, 1}}});
  CHECK(shifted->files({0}).size() == 4);
}

TEST_CASE("an unlimited dimension is as long as was written") {
  if (!reads_netcdf_4()) return;
  CHECK(open_variable(kFour, "short")->size() == 3);
}

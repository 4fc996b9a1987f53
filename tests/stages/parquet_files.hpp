// Parquet files that pyarrow wrote, as read.parquet gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/lacking.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

namespace cachebisect::test {

inline const std::string kParquetFolder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/parquet/";
inline const std::string kPhotoTable = kParquetFolder + "photos.parquet";
inline constexpr std::uint64_t kPhotoRows = 10;  // in groups of 4

inline std::unique_ptr<SourceStage> open_table(const std::string& path,
                                               const std::vector<NamedValue>& values = {}) {
  auto source = make_source("read.parquet", path, values);
  source->open();
  return source;
}

/// A column of numbers.parquet, without labels.
inline std::unique_ptr<SourceStage> open_column(const std::string& column) {
  return open_table(kParquetFolder + "numbers.parquet",
                    {{"image", column}, {"label", std::string()}});
}

/// The error of reading all rows, after the file's path.
inline std::string table_error(const std::string& path,
                               const std::vector<NamedValue>& values = {}) {
  const std::string error = error_of([&] {
    const auto source = open_table(path, values);
    for (std::uint64_t i = 0; i < source->size(); ++i) static_cast<void>(read_sample(*source, i));
  });
  const std::size_t at = error.find(path);
  return at == std::string::npos ? error : error.substr(0, 3) + error.substr(at + path.size());
}

/// Whether this build has Arrow; if not, the error says what would be right, and the test is
/// skipped.
inline bool built_with_parquet() {
  const std::string error = error_of([] { open_table(kPhotoTable); });
  if (!has(error, "this build has no Parquet")) return true;
  CHECK(error == "2: " + kPhotoTable +
                     ": this build has no Parquet (Arrow C++); build with "
                     "CACHEBISECT_WITH_PARQUET=ON where Arrow C++ or pyarrow is installed");
  skip("Arrow C++ (CACHEBISECT_WITH_PARQUET=ON)");
  return false;
}

inline std::string photo_text(std::uint64_t row) {
  std::string text;
  for (std::uint64_t i = 0; i <= row; ++i) text += "image " + std::to_string(row) + " ";
  return text;
}

inline std::string bytes_text(const Sample& sample) {
  const auto bytes = sample.field("image").as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace cachebisect::test

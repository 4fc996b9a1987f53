// Data sets of HDF5 files as read.hdf5 gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

namespace cachebisect::test {

inline const std::string kHdf5Sets = CACHEBISECT_SOURCE_DIR "/tests/fixtures/hdf5/sets.h5";

inline std::unique_ptr<SourceStage> open_set(const std::string& file, const std::string& name,
                                             std::vector<NamedValue> values = {}) {
  values.push_back({"array", name});
  auto source = make_source("read.hdf5", file, values);
  source->open();
  return source;
}

/// Whether this build has libhdf5; if not, the error says what would be right.
inline bool built_with_hdf5() {
  const std::string error = error_of([] { open_set(kHdf5Sets, "chunked-u1"); });
  if (!has(error, "this build has no HDF5")) return true;
  CHECK(has(error, "2: " + kHdf5Sets + ": this build has no HDF5 (libhdf5); build with"));
  return false;
}

/// The error of opening this data set and reading its first sample, after the file's path.
inline std::string set_error(const std::string& file, const std::string& name,
                             const std::vector<NamedValue>& values = {}) {
  const std::string error =
      error_of([&] { static_cast<void>(read_sample(*open_set(file, name, values), 0)); });
  const std::size_t at = error.find(file);
  return at == std::string::npos ? error : error.substr(0, 3) + error.substr(at + file.size());
}

inline std::vector<std::byte> item_bytes(const SourceStage& source, std::uint64_t index) {
  return bytes_of(read_sample(source, index).field("image").view());
}

}  // namespace cachebisect::test

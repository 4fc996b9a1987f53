// Headers of the classic NetCDF formats: CDF-1, CDF-2 (64-bit offset) and CDF-5 (64-bit data).
#pragma once

#include <cstdint>
#include <string>

#include "stages/datasets/stored_array.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

/// Where a variable's elements are: together, or those of each record together. The file is long
/// enough for all of them.
struct ClassicVariable {
  StoredArray::Facts facts;
  bool has_records = false;        ///< along its first axis, with other variables in between
  std::uint64_t begin = 0;         ///< byte of the first element
  std::uint64_t record_bytes = 0;  ///< from one record to the next
};

/// Reads the header as far as it describes this variable. Throws Error(data) that names the file
/// for what is missing, damaged or cannot be read. Memory does not grow with what a header claims.
[[nodiscard]] CACHEBISECT_INTERNAL_API ClassicVariable read_netcdf_header(const InputFile& file,
                                                                          const std::string& name);

}  // namespace cachebisect::stages

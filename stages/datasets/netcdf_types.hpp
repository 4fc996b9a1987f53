// Element types of the classic NetCDF formats.
#pragma once

#include <cstdint>
#include <optional>

#include "stages/datasets/stored_values.hpp"

namespace cachebisect::stages {

struct ClassicType {
  std::uint64_t bytes;
  std::optional<StoredType> stored;  ///< empty: text
};

/// By the numbers of NetCDF; empty for an unknown one.
[[nodiscard]] std::optional<ClassicType> classic_type(std::uint32_t number);
/// What is where nothing was written, NC_FILL_FLOAT and its like; empty for one byte.
[[nodiscard]] std::optional<double> classic_fill(StoredType type);
/// The number that these bits are.
[[nodiscard]] double classic_number(StoredType type, std::uint64_t bits);

}  // namespace cachebisect::stages

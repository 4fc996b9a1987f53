// The parts of reading Zarr's metadata: version 2, version 3, and what both share.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/datasets/zarr_array.hpp"
#include "stages/datasets/zarr_json.hpp"

namespace cachebisect::stages {

/// From the document of an array, without its path. They throw Error(data).
[[nodiscard]] ZarrArray parse_zarr_v2(const ZarrJson& document);
[[nodiscard]] ZarrArray parse_zarr_v3(const ZarrJson& document);

/// One element of this type, as it lies in memory, from a fill value of either version.
[[nodiscard]] std::vector<std::byte> parse_zarr_fill(const ZarrJson& value, DType dtype);

}  // namespace cachebisect::stages

// The size of the files that a data set is read from.
#pragma once

#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Estimated from at most 256 of `read`, samples that have been read before, because looking up
/// their files brings metadata into memory. Empty if the source reads no files.
CACHEBISECT_INTERNAL_API std::optional<double> data_set_bytes(const SourceStage& source,
                                                              std::span<const SampleIndex> read);

}  // namespace cachebisect

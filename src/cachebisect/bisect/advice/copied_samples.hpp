// Fields that another form before the copy makes smaller, and the device gives back.
#pragma once

#include <cstddef>
#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {

/// What reaches the copy of a pipeline file.
struct CopiedSamples {
  std::size_t stages = 0;  ///< that work on samples, the source among them
  bool planar = false;     ///< collate puts the channels of images first
  double bytes = 0;        ///< of a sample
};

/// Empty where such a change cannot be written down: of jobs in code, where the file or the bytes
/// are not known, and where a stage on host batches would get the other form.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<CopiedSamples> copied_samples(
    const Advice& advice, const StageReport& copy);

/// Sets what it changes that `left` of the bytes of a sample are copied, once workers have
/// converted so many.
CACHEBISECT_INTERNAL_API void set_smaller_copy(Proposal& proposal, const Advice& advice,
                                               const CopiedSamples& samples, double left,
                                               double converted);

}  // namespace cachebisect

// What the values of fields are, by the samples in a cache, and which of them nothing reads.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Looks at some of the samples, at about four million values of each field. Fields of floats of 16
/// bits, and those that have no values or not in all samples, are left out.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<FieldValues> field_values(
    std::span<const Sample> samples);

/// Marks those that the step does not expect and that no stage behind collate names. A step that
/// says nothing of what it expects reads all.
CACHEBISECT_INTERNAL_API void mark_unused(std::vector<FieldValues>& fields,
                                          const Pipeline& pipeline, const TrainStep& step);

}  // namespace cachebisect

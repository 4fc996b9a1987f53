// What the values of fields are, by the samples in a cache.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/protocol/cache_facts.hpp"

namespace cachebisect {

/// Looks at some of the samples, at about four million values of each field. Fields of floats of 16
/// bits, and those that have no values or not in all samples, are left out.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<FieldValues> field_values(
    std::span<const Sample> samples);

}  // namespace cachebisect

// Content hashes of cached items, to detect a stage or step that writes its input.
#pragma once

#include <cstdint>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect {

/// XXH3 (Collet, xxHash 0.8) over the bytes of all fields, which must be dense.
std::uint64_t content_hash(const Sample& sample);
/// As above; the batch must be in host memory.
std::uint64_t content_hash(const Batch& batch);

}  // namespace cachebisect

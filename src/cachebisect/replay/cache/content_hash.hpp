// Content hashes of cached items, so that a stage or step that writes its input is found out.
#pragma once

#include <cstdint>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect {

/// XXH3 (Collet, xxHash 0.8) over the bytes of all fields, which must be dense.
std::uint64_t content_hash(const Sample& sample);
/// As above; the memory must be the host's.
std::uint64_t content_hash(const Batch& batch);

}  // namespace cachebisect

// Whether the batch slots fit into memory, before any of it is touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

struct SlotNeeds {
  std::size_t slots = 1;
  std::int64_t batch_size = 1;
  double bytes_per_sample = 0;  ///< in a slot
};

/// Bytes per sample of the batch that a stage outputs; fields of dynamic shape count nothing.
[[nodiscard]] CACHEBISECT_INTERNAL_API double batch_bytes_per_sample(const Pipeline& pipeline,
                                                                     std::size_t stage);
/// The same without the fields that the stage passes on as they are.
[[nodiscard]] CACHEBISECT_INTERNAL_API double changed_bytes_per_sample(const Pipeline& pipeline,
                                                                       std::size_t stage);
/// Bytes that a sample takes in a slot: its row, and its share of the outputs of batch stages. 0 if
/// that depends on the samples, because their shapes do.
[[nodiscard]] CACHEBISECT_INTERNAL_API double slot_bytes_per_sample(const Pipeline& pipeline);
/// The same for a pipeline of dynamic shapes, from one sample of `sample_bytes` that collate gets:
/// it is kept until the batch is gathered, and copied then.
[[nodiscard]] constexpr double gathered_bytes_per_sample(double sample_bytes) noexcept {
  return 2 * sample_bytes;
}

/// Throws Error(usage) with the figures and the largest batch size that fits, unless
/// `available_bytes` hold the slots. 0 available: unknown, nothing is checked.
CACHEBISECT_INTERNAL_API void check_slot_memory(const SlotNeeds& needs, double available_bytes);

}  // namespace cachebisect

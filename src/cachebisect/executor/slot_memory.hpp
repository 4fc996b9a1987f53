// Whether the batch slots fit into memory, before any of it is touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
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
/// The same of the fields alone that the stage makes (makes_field()).
[[nodiscard]] CACHEBISECT_INTERNAL_API double changed_bytes_per_sample(const Pipeline& pipeline,
                                                                       std::size_t stage);
/// Bytes that a sample takes in a slot: its row, and its share of the outputs of batch stages. 0 if
/// that depends on the samples, because their shapes do.
[[nodiscard]] CACHEBISECT_INTERNAL_API double slot_bytes_per_sample(const Pipeline& pipeline);
/// Whether the field of a stage's output has memory of its own: the stage adds it to `input`,
/// changes its dtype or shape, or names it among the fields that it works on.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool makes_field(const ChainStage& stage,
                                                        const FieldSpec& field,
                                                        const BatchSpec& input);
/// Gives `batch` memory for the fields of static shape that the stage makes of `input`. A stage
/// that works on a field without saying so gets that memory when it first runs.
template <class BatchType>
void make_room(OwnedBatch<BatchType>& batch, const ChainStage& stage, const BatchSpec& input) {
  for (std::size_t i = 0; i < stage.output.size(); ++i) {
    const FieldSpec& field = stage.output[i];
    if (!field.shape.is_static() || !makes_field(stage, field, input)) continue;
    batch.resize_field(i, field.name, field.dtype, field.shape);
  }
}
/// The same for a pipeline of dynamic shapes, from one sample of `sample_bytes` that collate gets:
/// it is kept until the batch is gathered, and copied then.
[[nodiscard]] constexpr double gathered_bytes_per_sample(double sample_bytes) noexcept {
  return 2 * sample_bytes;
}

/// Throws Error(usage) with the figures and the largest batch size that fits, unless
/// `available_bytes` hold the slots. 0 available: unknown, nothing is checked.
CACHEBISECT_INTERNAL_API void check_slot_memory(const SlotNeeds& needs, double available_bytes);

}  // namespace cachebisect

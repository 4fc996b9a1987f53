// Stacks samples of equal shapes into a batch: the stage behind collate.stack and the builder's
// collate().
#pragma once

#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Layout of images in a batch; samples are HWC.
enum class BatchLayout { nhwc, nchw };

/// "NHWC" or "NCHW"; for anything else throws Error(usage) naming both.
CACHEBISECT_INTERNAL_API BatchLayout parse_batch_layout(std::string_view layout);

/// Every field [...] becomes [batch, ...]. With nchw, fields of three dimensions are permuted from
/// HWC to CHW; others are stacked unchanged. Static shapes are written into rows (strided for
/// nchw); dynamic ones are gathered and must be equal within the batch.
class CACHEBISECT_INTERNAL_API StackCollate final : public CollateStage {
 public:
  explicit StackCollate(BatchLayout layout) noexcept : layout_(layout) {}

  [[nodiscard]] BatchSpec infer(const SampleSpec& input, std::int64_t batch_size) override;
  [[nodiscard]] TensorView row(const FieldSpec& batch_field, std::byte* base,
                               std::int64_t row) const override;
  void gather(std::span<const Sample> samples, OwnedHostBatch& out) const override;

  /// Of `batch_size` samples of this shape.
  [[nodiscard]] Shape batch_shape(const Shape& sample, std::int64_t batch_size) const;
  /// gather() of the field at place `i` of the input.
  void gather_field(std::size_t i, std::span<const Sample> samples, OwnedHostBatch& out) const;

 private:
  BatchLayout layout_;
  SampleSpec input_;
};

}  // namespace cachebisect

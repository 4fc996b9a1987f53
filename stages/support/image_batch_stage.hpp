// The base of device stages that do something else to each image of a batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stages/support/batch_field_stage.hpp"
#include "stages/support/layout_param.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/data/image_changes.hpp"

namespace cachebisect::stages {

/// A device stage on batches of images [N, H, W, C] or [N, C, H, W], by the parameter `layout`. All
/// fields of a sample get the same random numbers, so that an image and its mask stay aligned.
class ImageBatchStage : public BatchFieldStage {
 public:
  explicit ImageBatchStage(const Params& params)
      : BatchFieldStage(params), layout_(parse_batch_layout(params.string("layout"))) {}

 protected:
  /// Throws Error(usage) unless `field` is a batch of images of one size.
  void require_images(const FieldSpec& field) const;
  [[nodiscard]] std::size_t channels(const Shape& shape) const {
    return channel_axis(layout_, shape);
  }
  [[nodiscard]] ImageSize image_size(const Shape& shape) const;

  /// As many images of a field as one operation takes.
  struct Part {
    ConstTensorView from;
    TensorView to;
    std::size_t first = 0;  ///< row of the batch
    [[nodiscard]] std::size_t images() const { return static_cast<std::size_t>(to.shape[0]); }
  };
  /// Calls `work` with each part, in order.
  template <class Work>
  static void for_each_part(const ConstTensorView& from, const TensorView& to, const Work& work) {
    constexpr auto kAtOnce = static_cast<std::int64_t>(kMaxImagesAtOnce);
    for (std::int64_t first = 0; first < to.shape[0]; first += kAtOnce) {
      const std::int64_t count = std::min(kAtOnce, to.shape[0] - first);
      work(Part{rows(from, first, count), rows(to, first, count), static_cast<std::size_t>(first)});
    }
  }

 private:
  /// Rows `first` to `first + count` of a dense batch.
  template <class View>
  static View rows(const View& batch, std::int64_t first, std::int64_t count) {
    View part = batch;
    part.shape[0] = count;
    const std::int64_t row = batch.shape[0] == 0 ? 0 : batch.shape.elements() / batch.shape[0];
    part.data += static_cast<std::size_t>(first * row) * size_of(batch.dtype);
    return part;
  }

  BatchLayout layout_;
};

/// A device stage whose images are parts of its input, perhaps turned.
class WindowStage : public ImageBatchStage {
 public:
  using ImageBatchStage::ImageBatchStage;

 private:
  [[nodiscard]] FieldSpec infer_field(const FieldSpec& input) const final;
  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& batch,
           const DeviceContext& context) const final;

  /// Of images of this size. Throws Error(usage) if it is not possible.
  [[nodiscard]] virtual ImageSize output_size(const ImageSize& input) const = 0;
  [[nodiscard]] virtual ImageWindow window(const ImageSize& input, RandomStream random) const = 0;
};

}  // namespace cachebisect::stages

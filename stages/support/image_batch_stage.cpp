#include "stages/support/image_batch_stage.hpp"

#include <array>

namespace cachebisect::stages {

void ImageBatchStage::require_images(const FieldSpec& field) const {
  if (field.shape.rank() != 4) {
    throw Error(ErrorKind::usage, "field \"" + field.name + "\" is " + field.shape.to_string() +
                                      ", must be a batch of images");
  }
  const ImageSize size = image_size(field.shape);
  if (size.height == kDynamic || size.width == kDynamic) {
    throw Error(ErrorKind::usage, "the images of field \"" + field.name +
                                      "\" differ in size; resize or crop them before collate");
  }
}

ImageSize ImageBatchStage::image_size(const Shape& shape) const {
  const std::size_t height = channels(shape) == 1 ? 2 : 1;
  return {shape[height], shape[height + 1]};
}

FieldSpec WindowStage::infer_field(const FieldSpec& input) const {
  require_images(input);
  FieldSpec output = input;
  const ImageSize size = output_size(image_size(input.shape));
  const std::size_t height = channels(input.shape) == 1 ? 2 : 1;
  output.shape[height] = size.height;
  output.shape[height + 1] = size.width;
  return output;
}

void WindowStage::run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& batch,
                      const DeviceContext& context) const {
  const ImageSize size = image_size(from.shape);
  for_each_part(from, to, [&](const Part& part) {
    std::array<ImageWindow, kMaxImagesAtOnce> windows;
    for (std::size_t i = 0; i < part.images(); ++i) {
      windows[i] = window(size, context.random(batch, part.first + i));
    }
    context.ops().crop(part.from, part.to, {windows.data(), part.images()}, channels(from.shape),
                       context.stream());
  });
}

}  // namespace cachebisect::stages

// The operations of the cpu device on images.
#pragma once

#include <span>

#include "cachebisect/data/image_changes.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect::host_images {

/// As DeviceOps::crop and DeviceOps::adjust_color, whose checks they expect to have passed.
void crop(const ConstTensorView& from, const TensorView& to, std::span<const ImageWindow> windows,
          std::size_t channel_axis);
void adjust_color(const ConstTensorView& from, const TensorView& to,
                  std::span<const ColorChanges> changes, std::size_t channel_axis);

}  // namespace cachebisect::host_images

// Separable resizing with weights computed once per axis (Pillow's algorithm, ImagingResample).
#pragma once

#include <cstdint>
#include <string_view>

#include "stages/kernels/image.hpp"

#include "cachebisect/data/memory.hpp"

namespace cachebisect::stages {

/// How an output pixel is computed from input pixels.
struct ResizeFilter {
  enum class Kind { nearest, area, bilinear, bicubic };
  Kind kind = Kind::bilinear;
  /// Widens bilinear (support 1) and bicubic (support 2) by the scale when shrinking. area always
  /// does, nearest never. Bicubic has a = -0.5 with antialias and -0.75 without, as torchvision.
  bool antialias = true;
};

/// "nearest", "area", "bilinear" or "bicubic". Throws Error(internal) for another name.
ResizeFilter::Kind filter_kind(std::string_view name);

/// Resizes the part `box` of `in` (which must lie inside it) to the size of `out`, as if it had
/// been cropped first. Within 1 of 255 of torchvision, and of Pillow for bilinear and area; equal
/// to Pillow for nearest. T is std::uint8_t or float. Scratch comes from `arena`. Thread safe.
template <class T>
void resize(const ImageIn<T>& in, const Box& box, const ImageOut<T>& out,
            const ResizeFilter& filter, Arena& arena);

extern template void resize(const ImageIn<std::uint8_t>&, const Box&, const ImageOut<std::uint8_t>&,
                            const ResizeFilter&, Arena&);
extern template void resize(const ImageIn<float>&, const Box&, const ImageOut<float>&,
                            const ResizeFilter&, Arena&);

}  // namespace cachebisect::stages

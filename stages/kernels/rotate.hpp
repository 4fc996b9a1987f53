// Rotation about the centre, as torchvision's rotate does it for tensors.
#pragma once

#include <cstdint>

#include "stages/kernels/image.hpp"

namespace cachebisect::stages {

/// Rotates `in` by `degrees` counter-clockwise into `out`, which is dense and of the same size;
/// pixels from outside `in` are `fill`. T is std::uint8_t (bilinear is rounded to nearest) or
/// float.
template <class T>
void rotate(const ImageIn<T>& in, T* out, double degrees, bool bilinear, float fill);

extern template void rotate(const ImageIn<std::uint8_t>&, std::uint8_t*, double, bool, float);
extern template void rotate(const ImageIn<float>&, float*, double, bool, float);

}  // namespace cachebisect::stages

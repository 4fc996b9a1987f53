// Gaussian blur with reflected borders (torchvision's gaussian_blur), separable, in float32.
#pragma once

#include <cstdint>
#include <span>

#include "stages/kernels/image.hpp"

#include "cachebisect/data/memory.hpp"

namespace cachebisect::stages {

/// The weights of a kernel of odd size, which sum to 1; sigma in pixels.
std::span<const float> gaussian_kernel(std::int64_t kernel_size, double sigma, Arena& arena);

/// Blurs `in` into `out`, which is dense and of the same size; both sides must be longer than half
/// the kernel. T is std::uint8_t (rounded to nearest, within 1 of 255 of torchvision) or float.
template <class T>
void blur(const ImageIn<T>& in, T* out, std::span<const float> kernel, Arena& arena);

extern template void blur(const ImageIn<std::uint8_t>&, std::uint8_t*, std::span<const float>,
                          Arena&);
extern template void blur(const ImageIn<float>&, float*, std::span<const float>, Arena&);

}  // namespace cachebisect::stages

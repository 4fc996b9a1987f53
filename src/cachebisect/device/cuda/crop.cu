// Crops and flips: a window per image.
#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"

namespace cachebisect::cuda::kernels {
namespace {

/// Passed as a kernel argument, so that nothing outlives the call.
struct Windows {
  ImageWindow of[kMaxImagesAtOnce];  // NOLINT(modernize-avoid-c-arrays): kernels use it
};

template <class Index, class T>
__global__ void crop_kernel(const T* __restrict__ from, T* __restrict__ to, ImageLayout input,
                            ImageLayout output, Windows windows, std::int64_t count) {
  const auto height = static_cast<Index>(output.height);
  const auto width = static_cast<Index>(output.width);
  const auto channels = static_cast<Index>(output.channels);
  const std::int64_t image = input.pixels() * input.channels;
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    auto rest = static_cast<Index>(i);
    const auto take = [&rest](Index size) {
      const Index next = rest / size;
      const auto part = static_cast<std::int64_t>(rest - next * size);
      rest = next;
      return part;
    };
    std::int64_t channel = output.planar ? 0 : take(channels);
    const std::int64_t x = take(width);
    const std::int64_t y = take(height);
    if (output.planar) channel = take(channels);
    const ImageWindow& window = windows.of[rest];
    const std::int64_t row = window.top + (window.flip_rows ? output.height - 1 - y : y);
    const std::int64_t column = window.left + (window.flip_columns ? output.width - 1 - x : x);
    const bool inside = row >= 0 && row < input.height && column >= 0 && column < input.width;
    to[i] = inside ? from[static_cast<std::int64_t>(rest) * image +
                          (row * input.width + column) * input.pixel_stride() +
                          channel * input.channel_stride()]
                   : T(0);
  }
}

}  // namespace

cudaError_t crop(const void* from, void* to, std::size_t element_bytes, const ImageLayout& input,
                 const ImageLayout& output, const ImageWindow* windows, cudaStream_t stream) {
  Windows all;
  for (std::int64_t i = 0; i < output.images; ++i) all.of[i] = windows[i];
  const std::int64_t count = output.images * output.pixels() * output.channels;
  return with_bits(element_bytes, [&](auto element) {
    return with_index(count, [&](auto index) {
      using T = typename decltype(element)::type;
      using Index = typename decltype(index)::type;
      return launch(crop_kernel<Index, T>, count, stream, static_cast<const T*>(from),
                    static_cast<T*>(to), input, output, all, count);
    });
  });
}

}  // namespace cachebisect::cuda::kernels

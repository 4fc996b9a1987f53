// Changes of colour: a pass over the images that need the mean of their grey, and one over all.
#include "cachebisect/data/color_math.hpp"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {
namespace {

using color_math::Pixel;

/// Few, because each thread adds to the sum of its image at its end.
constexpr std::int64_t kPixelsPerThread = 64;

/// Passed as a kernel argument, so that nothing outlives the call.
struct Changes {
  ColorChanges of[kMaxImagesAtOnce];  // NOLINT(modernize-avoid-c-arrays): kernels use it
};

CACHEBISECT_HOST_DEVICE bool has_contrast(const ColorChanges& changes) {
  return color_math::contrast_of(changes) != ColorChanges::kCount;
}

/// `threads` of an image share its pixels in turns, so that neighbours read neighbours.
__global__ void grey_sums_kernel(const std::uint8_t* __restrict__ from, ImageLayout images,
                                 Changes changes, std::int64_t threads, unsigned long long* sums) {
  const std::int64_t pixels = images.pixels();
  const auto channels = static_cast<int>(images.channels);
  for (std::int64_t i = first_element(); i < images.images * threads; i += element_step()) {
    const std::int64_t image = i / threads;
    const ColorChanges& own = changes.of[image];
    if (!has_contrast(own)) continue;
    const std::uint8_t* first = from + image * pixels * channels;
    unsigned long long sum = 0;
    for (std::int64_t at = i - image * threads; at < pixels; at += threads) {
      const Pixel pixel = color_math::load_pixel(first + at * images.pixel_stride(), channels,
                                                 images.channel_stride());
      sum += color_math::grey_before_contrast(pixel, channels, own);
    }
    atomicAdd(sums + image, sum);
  }
}

__global__ void adjust_color_kernel(const std::uint8_t* __restrict__ from,
                                    std::uint8_t* __restrict__ to, ImageLayout images,
                                    Changes changes, const unsigned long long* sums) {
  const std::int64_t pixels = images.pixels();
  const auto channels = static_cast<int>(images.channels);
  for (std::int64_t i = first_element(); i < images.images * pixels; i += element_step()) {
    const std::int64_t image = i / pixels;
    const std::int64_t at =
        image * pixels * channels + (i - image * pixels) * images.pixel_stride();
    const ColorChanges& own = changes.of[image];
    const float mean = has_contrast(own) ? color_math::mean_of(sums[image], pixels) : 0.0F;
    const Pixel pixel = color_math::changed(
        color_math::load_pixel(from + at, channels, images.channel_stride()), channels, own, mean);
    for (int c = 0; c < channels; ++c) to[at + c * images.channel_stride()] = pixel.values[c];
  }
}

}  // namespace

cudaError_t adjust_color(const void* from, void* to, const ImageLayout& images,
                         const ColorChanges* changes, void* sums, cudaStream_t stream) {
  Changes all;
  bool any_contrast = false;
  for (std::int64_t i = 0; i < images.images; ++i) {
    all.of[i] = changes[i];
    any_contrast |= has_contrast(changes[i]);
  }
  const auto* pixels = static_cast<const std::uint8_t*>(from);
  auto* const totals = static_cast<unsigned long long*>(sums);
  if (any_contrast) {
    const std::int64_t threads = (images.pixels() + kPixelsPerThread - 1) / kPixelsPerThread;
    cudaError_t status = cudaMemsetAsync(
        sums, 0, static_cast<std::size_t>(images.images) * sizeof(unsigned long long), stream);
    if (status != cudaSuccess) return status;
    status = launch(grey_sums_kernel, images.images * threads, stream, pixels, images, all, threads,
                    totals);
    if (status != cudaSuccess) return status;
  }
  return launch(adjust_color_kernel, images.images * images.pixels(), stream, pixels,
                static_cast<std::uint8_t*>(to), images, all,
                static_cast<const unsigned long long*>(totals));
}

}  // namespace cachebisect::cuda::kernels

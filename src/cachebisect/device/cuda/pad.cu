// Samples of different sizes, end to end, as a batch padded with zeros.
#include <limits>

#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {
namespace {

template <class Index, class T>
__global__ void pad_kernel(const T* __restrict__ from, T* __restrict__ to, PaddedSamples samples,
                           std::int64_t row, std::int64_t count) {
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    const std::int64_t sample = static_cast<Index>(i) / static_cast<Index>(row);
    auto rest = static_cast<Index>(i - sample * row);
    std::int64_t source = samples.begins[sample];
    std::int64_t stride = 1;
    bool inside = true;
    for (int axis = samples.axes - 1; axis >= 0; --axis) {
      const auto room = static_cast<Index>(samples.shape[axis]);
      const Index next = rest / room;
      const auto at = static_cast<std::int64_t>(rest - next * room);
      const std::int64_t size = samples.sizes[sample][axis];
      inside = inside && at < size;
      source += at * stride;
      stride *= size;
      rest = next;
    }
    to[i] = inside ? from[source] : T(0);
  }
}

template <class T>
cudaError_t pad_of(const void* from, void* to, const PaddedSamples& samples, cudaStream_t stream) {
  std::int64_t row = 1;
  for (int axis = 0; axis < samples.axes; ++axis) row *= samples.shape[axis];
  const std::int64_t count = samples.count * row;
  const auto kernel = count <= std::numeric_limits<std::int32_t>::max()
                          ? pad_kernel<std::uint32_t, T>
                          : pad_kernel<std::uint64_t, T>;
  return launch(kernel, count, stream, static_cast<const T*>(from), static_cast<T*>(to), samples,
                row, count);
}

}  // namespace

cudaError_t pad(const void* from, void* to, std::size_t element_bytes, const PaddedSamples& samples,
                cudaStream_t stream) {
  switch (element_bytes) {
    case 1:
      return pad_of<std::uint8_t>(from, to, samples, stream);
    case 2:
      return pad_of<std::uint16_t>(from, to, samples, stream);
    case 4:
      return pad_of<std::uint32_t>(from, to, samples, stream);
    case 8:
      return pad_of<std::uint64_t>(from, to, samples, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace cachebisect::cuda::kernels

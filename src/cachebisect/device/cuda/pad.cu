// Samples of different sizes, end to end, as a batch padded with zeros.
#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"

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

}  // namespace

cudaError_t pad(const void* from, void* to, std::size_t element_bytes, const PaddedSamples& samples,
                cudaStream_t stream) {
  std::int64_t row = 1;
  for (int axis = 0; axis < samples.axes; ++axis) row *= samples.shape[axis];
  const std::int64_t count = samples.count * row;
  return with_bits(element_bytes, [&](auto element) {
    return with_index(count, [&](auto index) {
      using T = typename decltype(element)::type;
      using Index = typename decltype(index)::type;
      return launch(pad_kernel<Index, T>, count, stream, static_cast<const T*>(from),
                    static_cast<T*>(to), samples, row, count);
    });
  });
}

}  // namespace cachebisect::cuda::kernels

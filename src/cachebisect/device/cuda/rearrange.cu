// one_hot, unpack_bits, transpose: kernels that move values and compute nothing.
#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"

namespace cachebisect::cuda::kernels {
namespace {

template <class Label, class To>
__global__ void one_hot_kernel(const Label* __restrict__ labels, To* __restrict__ to,
                               std::int64_t count, std::int64_t classes, float on, float off) {
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    const std::int64_t row = i / classes;
    const bool hit = static_cast<std::int64_t>(labels[row]) == i - row * classes;
    to[i] = convert<To>(hit ? on : off);
  }
}

__global__ void unpack_bits_kernel(const std::uint8_t* __restrict__ from,
                                   std::uint8_t* __restrict__ to, std::int64_t count) {
  for (std::int64_t i = first_element(); i < 8 * count; i += element_step()) {
    to[i] = static_cast<std::uint8_t>((from[i / 8] >> (7 - i % 8)) & 1);
  }
}

template <class Index, class T>
__global__ void transpose_kernel(const T* __restrict__ from, T* __restrict__ to, Gather gather,
                                 std::int64_t count) {
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    auto rest = static_cast<Index>(i);
    std::int64_t at = 0;
    for (int axis = gather.rank - 1; axis >= 0; --axis) {
      const auto size = static_cast<Index>(gather.shape[axis]);
      const Index next = rest / size;
      at += static_cast<std::int64_t>(rest - next * size) * gather.strides[axis];
      rest = next;
    }
    to[i] = from[at];
  }
}

template <class T>
cudaError_t launch_transpose(const void* from, void* to, const Gather& gather, std::int64_t count,
                             cudaStream_t stream) {
  const auto* source = static_cast<const T*>(from);
  auto* target = static_cast<T*>(to);
  const auto kernel = count <= std::numeric_limits<std::int32_t>::max()
                          ? transpose_kernel<std::uint32_t, T>
                          : transpose_kernel<std::uint64_t, T>;
  return launch(kernel, count, stream, source, target, gather, count);
}

}  // namespace

cudaError_t one_hot(const void* labels, DType label_dtype, void* to, DType to_dtype,
                    std::int64_t rows, std::int64_t classes, float on, float off,
                    cudaStream_t stream) {
  const std::int64_t count = rows * classes;
  return with_type(label_dtype, [&](auto source) {
    return with_float_type(to_dtype, [&](auto target) {
      using Label = typename decltype(source)::type;
      using To = typename decltype(target)::type;
      if constexpr (std::is_integral_v<Label> && !std::is_same_v<Label, bool>) {
        return launch(one_hot_kernel<Label, To>, count, stream, static_cast<const Label*>(labels),
                      static_cast<To*>(to), count, classes, on, off);
      } else {
        return cudaErrorInvalidValue;
      }
    });
  });
}

cudaError_t unpack_bits(const void* from, void* to, std::int64_t count, cudaStream_t stream) {
  return launch(unpack_bits_kernel, 8 * count, stream, static_cast<const std::uint8_t*>(from),
                static_cast<std::uint8_t*>(to), count);
}

cudaError_t transpose(const void* from, void* to, std::size_t element_bytes, const Gather& gather,
                      std::int64_t count, cudaStream_t stream) {
  switch (element_bytes) {
    case 1:
      return launch_transpose<std::uint8_t>(from, to, gather, count, stream);
    case 2:
      return launch_transpose<std::uint16_t>(from, to, gather, count, stream);
    case 4:
      return launch_transpose<std::uint32_t>(from, to, gather, count, stream);
    case 8:
      return launch_transpose<std::uint64_t>(from, to, gather, count, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace cachebisect::cuda::kernels

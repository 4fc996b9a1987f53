// one_hot, unpack_bits, unpack_nonzeros: kernels that move values and compute nothing.
#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/quads.cuh"

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

struct alignas(8) Byte8 {
  std::uint8_t values[8];  // NOLINT(modernize-avoid-c-arrays): std::array has no device members
};

/// The bits of a byte, highest first.
__device__ inline Byte8 bits_of(unsigned byte) {
  Byte8 bits;
  for (int k = 0; k < 8; ++k) bits.values[k] = static_cast<std::uint8_t>((byte >> (7 - k)) & 1U);
  return bits;
}

/// `whole`: the first bytes, whose bits are written at once.
__global__ void unpack_bits_kernel(const std::uint8_t* __restrict__ from,
                                   std::uint8_t* __restrict__ to, std::int64_t whole,
                                   std::int64_t count) {
  for (std::int64_t i = first_element(); i < whole; i += element_step()) {
    reinterpret_cast<Byte8*>(to)[i] = bits_of(from[i]);
  }
  for (std::int64_t i = whole + first_element(); i < count; i += element_step()) {
    const Byte8 bits = bits_of(from[i]);
    for (int k = 0; k < 8; ++k) to[8 * i + k] = bits.values[k];
  }
}

/// Byte by byte: rows may begin at any address.
__global__ void unpack_nonzeros_kernel(const std::uint8_t* __restrict__ from,
                                       std::uint8_t* __restrict__ to, std::int64_t count,
                                       std::int64_t most, std::int64_t element_bytes,
                                       std::int64_t row_bytes, std::int64_t values) {
  constexpr std::int64_t kPosition = sizeof(std::int32_t);
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    const std::int64_t row = i / most;
    const std::int64_t k = i - row * most;
    const std::uint8_t* const begin = from + row * row_bytes;
    std::uint32_t bits = 0;
    for (int b = 0; b < kPosition; ++b) {
      bits |= static_cast<std::uint32_t>(begin[k * kPosition + b]) << (8 * b);
    }
    const auto position = static_cast<std::int32_t>(bits);
    if (position < 0 || position >= values) continue;
    const std::uint8_t* const value = begin + most * kPosition + k * element_bytes;
    std::uint8_t* const target = to + (row * values + position) * element_bytes;
    for (std::int64_t b = 0; b < element_bytes; ++b) target[b] = value[b];
  }
}

}  // namespace

cudaError_t unpack_nonzeros(const void* from, void* to, std::size_t element_bytes,
                            std::int64_t rows, std::int64_t row_bytes, std::int64_t values,
                            cudaStream_t stream) {
  const auto element = static_cast<std::int64_t>(element_bytes);
  const std::int64_t most = row_bytes / (static_cast<std::int64_t>(sizeof(std::int32_t)) + element);
  const cudaError_t cleared =
      cudaMemsetAsync(to, 0, static_cast<std::size_t>(rows * values) * element_bytes, stream);
  if (cleared != cudaSuccess || most == 0) return cleared;
  return launch(unpack_nonzeros_kernel, rows * most, stream, static_cast<const std::uint8_t*>(from),
                static_cast<std::uint8_t*>(to), rows * most, most, element, row_bytes, values);
}

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
  const std::int64_t whole = is_aligned_to<Byte8>(to) ? count : 0;
  return launch(unpack_bits_kernel, count, stream, static_cast<const std::uint8_t*>(from),
                static_cast<std::uint8_t*>(to), whole, count);
}

}  // namespace cachebisect::cuda::kernels

// The kernels behind the device operations. Included by nvcc in C++17, so plain types only. All
// launch on `stream`, return without waiting, and check nothing: the caller has checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/image_changes.hpp"

namespace cachebisect::cuda::kernels {

/// Dtypes must differ.
cudaError_t cast(const void* from, DType from_dtype, void* to, DType to_dtype, std::int64_t count,
                 cudaStream_t stream);

/// Dense [outer, channels, inner].
struct AffineShape {
  std::int64_t outer = 0;
  std::int64_t channels = 0;
  std::int64_t inner = 0;
};
/// One value for all channels or one per channel; host memory, copied at the launch.
struct ChannelFloats {
  const float* values = nullptr;
  std::size_t count = 0;
};
cudaError_t affine(const void* from, DType from_dtype, void* to, DType to_dtype,
                   const AffineShape& shape, ChannelFloats scale, ChannelFloats bias,
                   cudaStream_t stream);

cudaError_t one_hot(const void* labels, DType label_dtype, void* to, DType to_dtype,
                    std::int64_t rows, std::int64_t classes, float on, float off,
                    cudaStream_t stream);

/// `count` bytes become 8 x `count`.
cudaError_t unpack_bits(const void* from, void* to, std::int64_t count, cudaStream_t stream);

/// Rows of `row_bytes`, of int32 positions and then of values of `element_bytes`, become rows of
/// `values` values: zeros, but for those.
cudaError_t unpack_nonzeros(const void* from, void* to, std::size_t element_bytes,
                            std::int64_t rows, std::int64_t row_bytes, std::int64_t values,
                            cudaStream_t stream);

/// Samples of one operation, as the arguments of a kernel: where each begins in the input, and its
/// sizes, in elements.
struct PaddedSamples {
  static constexpr int kMost = 64;
  static constexpr int kMaxAxes = 5;
  std::int64_t count = 0;
  int axes = 0;
  // Plain arrays: kernels cannot call the members of std::array.
  std::int64_t shape[kMaxAxes] = {};         // NOLINT(modernize-avoid-c-arrays): of the output
  std::int64_t begins[kMost] = {};           // NOLINT(modernize-avoid-c-arrays)
  std::int64_t sizes[kMost][kMaxAxes] = {};  // NOLINT(modernize-avoid-c-arrays)
};
/// Each sample at the start of every axis of its part of the output, zeros elsewhere.
cudaError_t pad(const void* from, void* to, std::size_t element_bytes, const PaddedSamples& samples,
                cudaStream_t stream);

/// One thread that is busy for so many nanoseconds by the device's own timer.
cudaError_t spin(std::int64_t nanoseconds, cudaStream_t stream);

/// The source of each element of a dense output: `strides` of the input in elements, in the
/// output's order of axes.
struct Gather {
  static constexpr int kMaxRank = 6;
  int rank = 0;
  // Plain arrays: kernels cannot call the members of std::array.
  std::int64_t shape[kMaxRank] = {};    // NOLINT(modernize-avoid-c-arrays)
  std::int64_t strides[kMaxRank] = {};  // NOLINT(modernize-avoid-c-arrays)
};
cudaError_t transpose(const void* from, void* to, std::size_t element_bytes, const Gather& gather,
                      std::int64_t count, cudaStream_t stream);

/// A window per image of `output`, at most kMaxImagesAtOnce: host memory, copied at the launch.
cudaError_t crop(const void* from, void* to, std::size_t element_bytes, const ImageLayout& input,
                 const ImageLayout& output, const ImageWindow* windows, cudaStream_t stream);

/// Likewise; `sums` is device memory of 8 bytes per image.
cudaError_t adjust_color(const void* from, void* to, const ImageLayout& images,
                         const ColorChanges* changes, void* sums, cudaStream_t stream);

/// Adds a checksum of `count` bytes and their places to `*sum`, which is in device memory.
cudaError_t checksum(const void* data, std::int64_t count, unsigned long long* sum,
                     cudaStream_t stream);

}  // namespace cachebisect::cuda::kernels

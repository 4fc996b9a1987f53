#include <algorithm>

#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/quads.cuh"

namespace cachebisect::cuda::kernels {
namespace {

/// Channels of one launch, passed as a kernel argument so that nothing outlives the call.
constexpr int kChannelsAtOnce = 128;

struct ChannelRange {
  float scale[kChannelsAtOnce];
  float bias[kChannelsAtOnce];
  std::int64_t first;  ///< of the tensor's channels
  std::int64_t count;
};

/// Rounded after each operation, as on the host: no fused multiply-add.
template <class From, class To>
__device__ To scaled(From from, const ChannelRange& range, std::int64_t channel) {
  return convert<To>(
      __fadd_rn(__fmul_rn(convert<float>(from), range.scale[channel]), range.bias[channel]));
}

/// `quads` are of all channels, so that they lie as densely as the tensor. Index is 32 bits wide if
/// that is enough: divisions are then several times faster.
template <class Index, class From, class To>
__global__ void affine_kernel(const From* __restrict__ from, To* __restrict__ to, AffineShape shape,
                              ChannelRange range, std::int64_t quads) {
  const auto inner = static_cast<Index>(shape.inner);
  const auto channels = static_cast<Index>(range.count);
  const Index part = channels * inner;  // of one outer index
  for (std::int64_t i = first_element(); i < quads; i += element_step()) {
    const Index within = static_cast<Index>(kQuad * i) % part;
    Index channel = within / inner;
    Index place = within - channel * inner;
    const Quad<From> input = reinterpret_cast<const Quad<From>*>(from)[i];
    Quad<To> output;
    for (int k = 0; k < kQuad; ++k) {
      output.values[k] = scaled<From, To>(input.values[k], range, channel);
      if (++place < inner) continue;
      place = 0;
      if (++channel == channels) channel = 0;
    }
    reinterpret_cast<Quad<To>*>(to)[i] = output;
  }
  const std::int64_t whole = shape.channels * shape.inner;
  const std::int64_t start = range.first * shape.inner;
  const std::int64_t count = shape.outer * range.count * shape.inner;
  for (std::int64_t i = kQuad * quads + first_element(); i < count; i += element_step()) {
    const Index outer = static_cast<Index>(i) / part;
    const Index within = static_cast<Index>(i) - outer * part;
    const std::int64_t at =
        static_cast<std::int64_t>(outer) * whole + start + static_cast<std::int64_t>(within);
    to[at] = scaled<From, To>(from[at], range, within / inner);
  }
}

float value_of(const ChannelFloats& floats, std::int64_t channel) {
  return floats.values[floats.count == 1 ? 0 : channel];
}

ChannelRange make_range(std::int64_t first, std::int64_t channels, const ChannelFloats& scale,
                        const ChannelFloats& bias) {
  ChannelRange range{};
  range.first = first;
  range.count = std::min<std::int64_t>(kChannelsAtOnce, channels - first);
  for (std::int64_t c = 0; c < range.count; ++c) {
    range.scale[c] = value_of(scale, first + c);
    range.bias[c] = value_of(bias, first + c);
  }
  return range;
}

template <class From, class To>
cudaError_t launch_affine(const From* from, To* to, const AffineShape& shape,
                          const ChannelRange& range, cudaStream_t stream) {
  const std::int64_t count = shape.outer * range.count * shape.inner;
  const auto kernel = count <= std::numeric_limits<std::int32_t>::max()
                          ? affine_kernel<std::uint32_t, From, To>
                          : affine_kernel<std::uint64_t, From, To>;
  const std::int64_t quads = range.count == shape.channels ? quads_of(from, to, count) : 0;
  return launch(kernel, turns_of(quads, count), stream, from, to, shape, range, quads);
}

}  // namespace

cudaError_t affine(const void* from, DType from_dtype, void* to, DType to_dtype,
                   const AffineShape& shape, ChannelFloats scale, ChannelFloats bias,
                   cudaStream_t stream) {
  return with_type(from_dtype, [&](auto source) {
    return with_float_type(to_dtype, [&](auto target) {
      using From = typename decltype(source)::type;
      using To = typename decltype(target)::type;
      for (std::int64_t first = 0; first < shape.channels; first += kChannelsAtOnce) {
        const ChannelRange range = make_range(first, shape.channels, scale, bias);
        const cudaError_t status = launch_affine(static_cast<const From*>(from),
                                                 static_cast<To*>(to), shape, range, stream);
        if (status != cudaSuccess) return status;
      }
      return cudaSuccess;
    });
  });
}

}  // namespace cachebisect::cuda::kernels

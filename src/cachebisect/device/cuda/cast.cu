#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/quads.cuh"

namespace cachebisect::cuda::kernels {
namespace {

template <class From, class To>
__global__ void cast_kernel(const From* __restrict__ from, To* __restrict__ to, std::int64_t quads,
                            std::int64_t count) {
  for (std::int64_t i = first_element(); i < quads; i += element_step()) {
    const Quad<From> input = reinterpret_cast<const Quad<From>*>(from)[i];
    Quad<To> output;
    for (int k = 0; k < kQuad; ++k) output.values[k] = convert<To>(input.values[k]);
    reinterpret_cast<Quad<To>*>(to)[i] = output;
  }
  for (std::int64_t i = kQuad * quads + first_element(); i < count; i += element_step()) {
    to[i] = convert<To>(from[i]);
  }
}

}  // namespace

cudaError_t cast(const void* from, DType from_dtype, void* to, DType to_dtype, std::int64_t count,
                 cudaStream_t stream) {
  return with_type(from_dtype, [&](auto source) {
    return with_type(to_dtype, [&](auto target) {
      using From = typename decltype(source)::type;
      using To = typename decltype(target)::type;
      if constexpr (std::is_same_v<From, To>) {
        return cudaErrorInvalidValue;
      } else {
        const auto* input = static_cast<const From*>(from);
        auto* output = static_cast<To*>(to);
        const std::int64_t quads = quads_of(input, output, count);
        return launch(cast_kernel<From, To>, turns_of(quads, count), stream, input, output, quads,
                      count);
      }
    });
  });
}

}  // namespace cachebisect::cuda::kernels

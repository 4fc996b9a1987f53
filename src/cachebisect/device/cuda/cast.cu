#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"

namespace cachebisect::cuda::kernels {
namespace {

template <class From, class To>
__global__ void cast_kernel(const From* __restrict__ from, To* __restrict__ to,
                            std::int64_t count) {
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
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
        return launch(cast_kernel<From, To>, count, stream, static_cast<const From*>(from),
                      static_cast<To*>(to), count);
      }
    });
  });
}

}  // namespace cachebisect::cuda::kernels

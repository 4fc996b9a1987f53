#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {
namespace {

/// Few, because each thread adds to the same sum at its end.
constexpr std::int64_t kBytesPerThread = 256;

/// A byte and its place as 64 bits that look random: the finalizer of SplitMix64 (Steele, Lea and
/// Flood 2014).
__device__ inline unsigned long long mixed(std::uint8_t byte, std::int64_t place) {
  unsigned long long bits = (static_cast<unsigned long long>(place) << 8U) + byte + 1;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

__global__ void checksum_kernel(const std::uint8_t* __restrict__ data, std::int64_t count,
                                unsigned long long* sum) {
  unsigned long long own = 0;
  for (std::int64_t i = first_element(); i < count; i += element_step()) own += mixed(data[i], i);
  if (own != 0) atomicAdd(sum, own);
}

}  // namespace

cudaError_t checksum(const void* data, std::int64_t count, unsigned long long* sum,
                     cudaStream_t stream) {
  const std::int64_t threads = (count + kBytesPerThread - 1) / kBytesPerThread;
  return launch(checksum_kernel, threads, stream, static_cast<const std::uint8_t*>(data), count,
                sum);
}

}  // namespace cachebisect::cuda::kernels

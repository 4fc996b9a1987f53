#include "cachebisect/device/cuda/cuda_checksums.hpp"

#include "cachebisect/device/cuda/cuda_error.hpp"
#include "cachebisect/device/cuda/kernels.hpp"

namespace cachebisect::cuda {

std::vector<std::uint64_t> checksums(std::span<const ConstTensorView> tensors,
                                     const std::shared_ptr<MemoryResource>& memory,
                                     Stream& stream) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> result(tensors.size());
  if (tensors.empty()) return result;
  const std::size_t bytes = tensors.size() * sizeof(std::uint64_t);
  cudaStream_t const queue = stream_of(stream);
  Buffer sums(memory);
  auto* sum = reinterpret_cast<unsigned long long*>(sums.reserve(bytes));
  check(cudaMemsetAsync(sum, 0, bytes, queue), "cudaMemsetAsync");
  for (const ConstTensorView& tensor : tensors) {
    const auto count = static_cast<std::int64_t>(tensor.byte_size());
    if (count > 0) {
      check(kernels::checksum(tensor.data, count, sum, queue), "launch of the checksum kernel");
    }
    ++sum;
  }
  // Returns when it is done, because the host's memory is pageable.
  check(cudaMemcpyAsync(result.data(), sums.data(), bytes, cudaMemcpyDeviceToHost, queue),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(queue), "cudaStreamSynchronize");
  return result;
}

}  // namespace cachebisect::cuda

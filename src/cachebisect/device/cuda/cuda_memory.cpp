#include "cachebisect/device/cuda/cuda_memory.hpp"

#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"
#include "cachebisect/device/memory_node.hpp"
#include "cachebisect/device/memory_remedy.hpp"

namespace cachebisect::cuda {
namespace {

std::string in_words(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

/// check() with the requested size.
void check_allocation(cudaError_t status, const char* call, std::size_t bytes) {
  try {
    check(status, call);
  } catch (const Error& error) {
    throw error.with_context("allocating " + std::to_string(bytes) + " bytes");
  }
}

class PinnedMemory final : public MemoryResource {
 public:
  PinnedMemory(int ordinal, std::optional<int> node) : ordinal_(ordinal), node_(node) {}
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    use_device(ordinal_);
    void* data = nullptr;
    const PreferredMemoryNode near_the_device(node_);
    check_allocation(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable),
                     "cudaHostAlloc", bytes);
    return static_cast<std::byte*>(data);
  }

  void deallocate(std::byte* data, std::size_t /*bytes*/) noexcept override {
    try_use_device(ordinal_);
    (void)cudaFreeHost(data);
  }

 private:
  int ordinal_;
  std::optional<int> node_;
};

}  // namespace

DeviceMemory::DeviceMemory(int ordinal, std::shared_ptr<const StreamList> streams,
                           std::shared_ptr<ReleaseList> releases)
    : ordinal_(ordinal), streams_(std::move(streams)), releases_(std::move(releases)) {}

DeviceMemory::~DeviceMemory() {
  try_use_device(ordinal_);
  free_retired();
}

std::byte* DeviceMemory::allocate(std::size_t bytes) {
  use_device(ordinal_);
  void* data = nullptr;
  cudaError_t status = try_allocate(data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    releases_->run();
    status = try_allocate(data, bytes);
  }
  if (status == cudaErrorMemoryAllocation) refuse(bytes);
  check_allocation(status, "cudaMalloc", bytes);
  return static_cast<std::byte*>(data);
}

cudaError_t DeviceMemory::try_allocate(void*& data, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  // Room to retire this block without allocating.
  retired_.reserve(retired_.size() + blocks_ + 1);
  cudaError_t status = cudaMalloc(&data, bytes == 0 ? 1 : bytes);
  if (status == cudaErrorMemoryAllocation && !retired_.empty()) {
    free_retired();
    status = cudaMalloc(&data, bytes == 0 ? 1 : bytes);
  }
  if (status == cudaErrorMemoryAllocation) (void)cudaGetLastError();  // it is no failure yet
  if (status != cudaSuccess) return status;
  ++blocks_;
  held_bytes_ += bytes;
  return status;
}

void DeviceMemory::deallocate(std::byte* data, std::size_t bytes) noexcept {
  try_use_device(ordinal_);
  const std::scoped_lock lock(mutex_);
  retired_.push_back(data);
  held_bytes_ -= bytes;
  --blocks_;
  if (streams_->idle()) free_retired();
}

bool DeviceMemory::free_unused() {
  use_device(ordinal_);
  const std::scoped_lock lock(mutex_);
  if (retired_.empty()) return false;
  free_retired();
  return true;
}

std::uint64_t DeviceMemory::held_bytes() const {
  const std::scoped_lock lock(mutex_);
  return held_bytes_;
}

void DeviceMemory::free_retired() noexcept {
  for (void* data : retired_) (void)cudaFree(data);
  retired_.clear();
}

void DeviceMemory::refuse(std::size_t bytes) const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  throw Error(ErrorKind::device,
              "CUDA: cuda:" + std::to_string(ordinal_) + " is out of memory: cudaMalloc of " +
                  std::to_string(bytes) + " bytes failed, " + in_words(free_bytes) + " of " +
                  in_words(total_bytes) + " are free; batches and caches hold " +
                  in_words(held_bytes()) + ", the training step and other processes the rest; " +
                  std::string(kDeviceMemoryRemedy));
}

std::shared_ptr<MemoryResource> make_pinned_memory(int ordinal, std::optional<int> node) {
  return std::make_shared<PinnedMemory>(ordinal, node);
}

}  // namespace cachebisect::cuda

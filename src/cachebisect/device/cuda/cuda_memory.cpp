#include "cachebisect/device/cuda/cuda_memory.hpp"

#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"

namespace cachebisect::cuda {
namespace {

/// check() with the requested size.
void check_allocation(cudaError_t status, const char* call, std::size_t bytes) {
  try {
    check(status, call);
  } catch (const Error& error) {
    throw error.with_context("allocating " + std::to_string(bytes) + " bytes");
  }
}

class DeviceMemory final : public MemoryResource {
 public:
  explicit DeviceMemory(int ordinal) : ordinal_(ordinal) {}
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::device; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    const DeviceGuard guard(ordinal_);
    void* data = nullptr;
    check_allocation(cudaMalloc(&data, bytes == 0 ? 1 : bytes), "cudaMalloc", bytes);
    return static_cast<std::byte*>(data);
  }

  // The address identifies the device, so no guard is needed.
  void deallocate(std::byte* data, std::size_t /*bytes*/) noexcept override {
    (void)cudaFree(data);
  }

 private:
  int ordinal_;
};

class PinnedMemory final : public MemoryResource {
 public:
  explicit PinnedMemory(int ordinal) : ordinal_(ordinal) {}
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    const DeviceGuard guard(ordinal_);
    void* data = nullptr;
    check_allocation(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable),
                     "cudaHostAlloc", bytes);
    return static_cast<std::byte*>(data);
  }

  void deallocate(std::byte* data, std::size_t /*bytes*/) noexcept override {
    (void)cudaFreeHost(data);
  }

 private:
  int ordinal_;
};

}  // namespace

std::shared_ptr<MemoryResource> make_device_memory(int ordinal) {
  return std::make_shared<DeviceMemory>(ordinal);
}

std::shared_ptr<MemoryResource> make_pinned_memory(int ordinal) {
  return std::make_shared<PinnedMemory>(ordinal);
}

}  // namespace cachebisect::cuda

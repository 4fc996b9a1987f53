// Memory from CUDA: on the device, and page-locked on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cachebisect/data/memory.hpp"
#include "cachebisect/device/cuda/cuda_handles.hpp"
#include "cachebisect/device/cuda/release_list.hpp"

namespace cachebisect::cuda {

/// Freeing memory would wait for the whole device: what is freed while one of `streams` has work is
/// kept until all are idle, or until there is no room without it. If there still is none,
/// `releases` are called.
class DeviceMemory final : public MemoryResource {
 public:
  DeviceMemory(int ordinal, std::shared_ptr<const StreamList> streams,
               std::shared_ptr<ReleaseList> releases);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::device; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void deallocate(std::byte* data, std::size_t bytes) noexcept override;
  /// Frees what is kept, after the work on the device; true if there was any.
  bool free_unused();
  /// Bytes in use.
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  [[nodiscard]] cudaError_t try_allocate(void*& data, std::size_t bytes);
  void free_retired() noexcept;
  [[noreturn]] void refuse(std::size_t bytes) const;

  int ordinal_;
  std::shared_ptr<const StreamList> streams_;
  std::shared_ptr<ReleaseList> releases_;
  mutable std::mutex mutex_;
  std::vector<void*> retired_;
  std::size_t blocks_ = 0;  ///< in use
  std::uint64_t held_bytes_ = 0;
};

/// `node`: the memory node that it lies on, whichever thread allocates; empty: the thread's.
[[nodiscard]] std::shared_ptr<MemoryResource> make_pinned_memory(int ordinal,
                                                                 std::optional<int> node);

}  // namespace cachebisect::cuda

// The memory of a virtual device: poisoned when new and when freed, and out of reach of the host.
#pragma once

#include <cstddef>
#include <map>

namespace cuda_stub {

/// Addresses that only running work may access: any other access ends the process. Not thread safe.
class DeviceArena {
 public:
  explicit DeviceArena(std::size_t bytes);
  ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  /// Null if no gap is large enough.
  std::byte* allocate(std::size_t bytes);
  /// False if nothing was allocated there.
  bool free(std::byte* data);
  /// True if an allocation holds all these bytes.
  [[nodiscard]] bool holds(const void* data, std::size_t bytes) const;
  /// True if the address belongs to this device, allocated or not.
  [[nodiscard]] bool owns(const void* data) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t used() const;
  [[nodiscard]] std::size_t allocations() const noexcept { return allocated_.size(); }

  /// While it lives, this process may access the memory.
  class Access {
   public:
    explicit Access(const DeviceArena& arena);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    const DeviceArena* arena_;
  };

 private:
  void poison(std::byte* data, std::size_t bytes) const;

  std::byte* base_;
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> allocated_;  ///< offset and size
};

}  // namespace cuda_stub

// Host memory for cached samples, allocated in pieces.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Pieces live until the arena is destroyed. take() is thread safe, bytes() is not.
class CACHEBISECT_INTERNAL_API HostArena {
 public:
  HostArena() = default;
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// `bytes` zeroed bytes, aligned to MemoryResource::kAlignment. Throws Error(usage) if no memory
  /// is left.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  /// Bytes handed out.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    std::byte* data;
    std::size_t size;
    std::size_t used;
  };

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  std::size_t bytes_ = 0;
};

}  // namespace cachebisect

// Host memory for cached samples, handed out piece by piece.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Pieces live until the arena is destroyed. take() is thread safe, bytes() is not.
class CACHEBISECT_API HostArena {
 public:
  HostArena() = default;
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// `bytes` zeroed bytes, aligned to MemoryResource::kAlignment. Throws Error(data) when there is
  /// no memory left.
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

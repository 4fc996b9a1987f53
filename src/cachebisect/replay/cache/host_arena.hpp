// Host memory for cached samples, allocated in pieces, and the samples that are copied into it.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect {

/// Pieces live until reset() or the end of the arena. take() is thread safe, the rest is not.
class CACHEBISECT_INTERNAL_API HostArena {
 public:
  HostArena() = default;
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// `bytes` bytes of any content, aligned to MemoryResource::kAlignment. Throws Error(usage) if no
  /// memory is left.
  [[nodiscard]] std::byte* take(std::size_t bytes);
  /// Takes all pieces back; their memory is handed out again.
  void reset() noexcept;
  /// Bytes handed out.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    std::byte* data;
    std::size_t size;
    std::size_t used;
    [[nodiscard]] bool holds(std::size_t bytes) const noexcept { return used + bytes <= size; }
  };

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;  ///< the chunk that pieces are taken from
  std::size_t bytes_ = 0;
};

/// `to` becomes a dense copy of `from`, whose bytes lie in `arena`. Thread safe for different `to`.
void store_sample(const Sample& from, Sample& to, HostArena& arena);

}  // namespace cachebisect

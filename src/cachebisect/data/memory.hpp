// Memory resources (plain host, pinned, device) and the buffers that own memory from them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class MemoryKind { host, pinned, device };

/// Allocates and frees memory. Implementations are thread safe.
class CACHEBISECT_API MemoryResource {
 public:
  virtual ~MemoryResource();
  [[nodiscard]] virtual MemoryKind kind() const noexcept = 0;
  /// At least `bytes` bytes, aligned to kAlignment. Throws Error(data) on the host and
  /// Error(device) on a device if no memory is left; the message names the requested size.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void deallocate(std::byte* data, std::size_t bytes) noexcept = 0;

  static constexpr std::size_t kAlignment = 64;
};

/// Ordinary memory of the process.
CACHEBISECT_API std::shared_ptr<MemoryResource> host_memory();

/// Owns one block of memory; grows, never shrinks. Move only.
class CACHEBISECT_API Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::shared_ptr<MemoryResource> resource) : resource_(std::move(resource)) {}
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Makes room for `bytes`; allocates only beyond the high-water mark, and then loses the content.
  std::byte* reserve(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  void free() noexcept;

  std::shared_ptr<MemoryResource> resource_;  // null: host memory, taken at the first reserve
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Scratch memory for one sample on one worker: taken in pieces, released all at once. Grows to a
/// high-water mark, then allocates nothing. Not thread safe.
class CACHEBISECT_API Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Uninitialised bytes, aligned to MemoryResource::kAlignment, valid until reset().
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes);
  template <class T>
  [[nodiscard]] std::span<T> take_array(std::size_t count) {
    return {reinterpret_cast<T*>(take(count * sizeof(T)).data()), count};
  }
  /// Releases everything; merges the blocks into one if there was more than one.
  void reset();
  /// Bytes held; constant in the steady state.
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect

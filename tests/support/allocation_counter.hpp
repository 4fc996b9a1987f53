// Counts every allocation of the program. It replaces the global operators, so only one source file
// of a program may include it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace cachebisect::test {

inline std::atomic<std::uint64_t> allocations{0};

/// `alignment` 0: that of malloc.
inline void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* data = alignment == 0
                   ? std::malloc(bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace cachebisect::test

// Not inlined, so that the compiler sees no free() of what came from operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return cachebisect::test::counted(bytes, 0);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return cachebisect::test::counted(bytes, 0);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return cachebisect::test::counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t& /*tag*/) noexcept {
  return cachebisect::test::counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t /*bytes*/) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete[](void* data, std::size_t /*bytes*/) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, std::align_val_t /*alignment*/) noexcept {
  std::free(data);
}

[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return cachebisect::test::counted(bytes, 0);
}
[[gnu::noinline]] void operator delete(void* data, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, const std::nothrow_t& /*tag*/) noexcept {
  std::free(data);
}

// Replaces the global operators of the program that it is linked to.
#include "allocation_counter.hpp"

#include <cstdlib>
#include <new>

namespace cachebisect::test {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> allocated_bytes{0};

namespace {

/// `alignment` 0: that of malloc.
[[maybe_unused]] void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
  void* data = alignment == 0
                   ? std::malloc(bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace
}  // namespace cachebisect::test

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CACHEBISECT_RUNTIME_HAS_OPERATORS  // Clang's runtime for threads: nothing is counted
#endif
#endif
#ifndef CACHEBISECT_RUNTIME_HAS_OPERATORS

using cachebisect::test::counted;

// Not inlined, so that the compiler sees no free() of what came from operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, 0); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted(bytes, 0); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t& /*tag*/) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
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
  return counted(bytes, 0);
}
[[gnu::noinline]] void operator delete(void* data, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, const std::nothrow_t& /*tag*/) noexcept {
  std::free(data);
}

#endif

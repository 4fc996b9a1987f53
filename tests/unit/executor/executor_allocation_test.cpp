// Counts every allocation of the process while samples are loaded, and what the executor holds.
#include <atomic>
#include <cstdlib>
#include <new>

#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* data = alignment == 0
                   ? std::malloc(bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

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

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

namespace {

void drain(Executor& executor, int batches) {
  for (int i = 0; i < batches; ++i) executor.release(executor.next({}), nullptr);
}

Pipeline chain(bool strided, bool vary) {
  return PipelineBuilder{}
      .source("read", toy::source({.samples = 500, .vary = vary}))
      .stage("noise", toy::noise(strided))
      .stage("more", toy::noise(!strided))
      .collate(vary ? "NHWC" : "NCHW")
      .stage("count", toy::count_up())
      .copy()
      .batch_size(vary ? 1 : 16)
      .build();
}

}  // namespace

TEST_CASE("the allocations are counted") {
  const std::uint64_t before = allocations;
  CHECK(std::make_unique<std::string>(100, 'x')->size() == 100);
  CHECK(allocations >= before + 2);
}

TEST_CASE("loading allocates nothing in the steady state, and holds no more") {
  const auto device = make_cpu_device();
  for (const bool strided : {false, true}) {
    for (const bool vary : {false, true}) {
      const Pipeline pipeline = chain(strided, vary);
      for (const int workers : {0, 1, 2, 4}) {
        CAPTURE(strided);
        CAPTURE(vary);
        CAPTURE(workers);
        Executor executor(pipeline, *device, {.workers = workers});
        executor.start({});
        const int rounds = vary ? 3000 : 200;
        drain(executor, rounds);
        const std::uint64_t before = allocations;
        drain(executor, rounds);
        const std::uint64_t during = allocations - before;
        executor.halt();
        const std::size_t held = executor.bytes_held();
        executor.start({});
        drain(executor, rounds);
        executor.halt();
        // A worker may have slept through the warm-up; what it then still sets up is bounded, and
        // far below one allocation for every sample.
        if (workers <= 1) CHECK(during == 0);
        CHECK(during <= static_cast<std::uint64_t>(workers) * 40);
        if (workers <= 1) CHECK(executor.bytes_held() == held);
        CHECK(held > 0);
      }
    }
  }
}

// Two CUDA devices in one process. Skipped on a machine with one.
#include <memory>

#include "support/gpu_job.hpp"
#include <dlfcn.h>
#include <doctest/doctest.h>

using namespace cachebisect;
using test::ChainOptions;
using test::GpuJob;

namespace {

constexpr std::uint64_t kSharedSamples = 56;

/// Whether this process holds a context on the device, without making one.
bool has_context(int ordinal) {
#ifdef CACHEBISECT_ON_CUDA_STUB
  for (const int device : test::kStubMachine.contexts()) {
    if (device == ordinal) return true;
  }
  return false;
#else
  using GetState = int (*)(int, unsigned*, int*);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(driver != nullptr);
  const auto get = reinterpret_cast<GetState>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  REQUIRE(static_cast<bool>(get));
  unsigned flags = 0;
  int active = 0;
  REQUIRE(get(ordinal, &flags, &active) == 0);
  return active != 0;
#endif
}

}  // namespace

// Contexts stay until the process ends, so this case must be the first.
TEST_CASE("a job on cuda:1 holds no memory of cuda:0" *
          doctest::skip(test::no_second_cuda_device())) {
  const ChainOptions options{.samples = kSharedSamples};
  GpuJob job(options, make_cuda_device(1));
  test::check_every_arm(job, options);
  CHECK(has_context(1));
  CHECK_FALSE(has_context(0));
}

TEST_CASE("jobs on two devices run in turns, and each gets its own batches" *
          doctest::skip(test::no_second_cuda_device())) {
  const ChainOptions first{.samples = kSharedSamples, .seed = 1};
  const ChainOptions second{.samples = kSharedSamples, .seed = 2};
  GpuJob on_first(first, make_cuda_device(0));
  GpuJob on_second(second, make_cuda_device(1));
  for (int block = 0; block < 2; ++block) {
    test::check_every_arm(on_first, first, 0, block);
    test::check_every_arm(on_second, second, 0, block);
  }
}

// Failures of the CUDA runtime at any call: one clear error, nothing leaked, no terminate.
#include "support/errors.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/cuda_job.hpp"
#include "support/sanitized.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device_ops.hpp"

using namespace cachebisect;
using cuda_stub::Failure;
using cuda_stub::Machine;
using cuda_stub::MachineOptions;
using test::CudaJob;
using test::CudaJobOptions;
using test::error_message;
using test::has;

namespace {

/// Errors of these are left alone: they release something, or ask for what may fail.
bool may_fail_quietly(std::string_view function) {
  for (const std::string_view quiet :
       {"cudaFree", "cudaFreeHost", "cudaStreamDestroy", "cudaEventDestroy", "cudaStreamQuery",
        "cudaDeviceGetPCIBusId"}) {
    if (function == quiet) return true;
  }
  return false;
}

/// A whole job: caches, live, replay from the host and from the device.
void run_job(const CudaJobOptions& options = {}) {
  CudaJob job(options);
  for (const int boundary : {0, 3, 5}) (void)job.run({ArmKind::replay, boundary, 0, {}});
}

/// The error of a whole job with this failure; empty if it ended well.
std::string error_with(const Failure& failure, const MachineOptions& options = {}) {
  Machine machine(options);
  machine.fail(failure);
  std::string message;
  try {
    run_job();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    message = error.what();
  }
  CHECK(machine.leaks() == std::vector<std::string>{});
  return message;
}

/// How often a job without failures calls each function.
std::vector<std::pair<std::string, int>> calls_of_job() {
  Machine machine;
  run_job({.chain = {.samples = 56, .workers = 0}});
  return machine.all_calls();
}

}  // namespace

TEST_CASE("any call that fails gives an error of the device, and leaks nothing") {
  for (const auto& [function, calls] : calls_of_job()) {
    for (const int call : {1, 2, calls / 2, calls}) {
      for (const bool sticky : {false, true}) {
        if (call < 1 || call > calls) continue;
        // Each way to fail with half of the calls.
        if (test::kIsThreadSanitized && sticky == (call % 2 == 0)) continue;
        CAPTURE(function);
        CAPTURE(call);
        CAPTURE(sticky);
        const std::string message = error_with({function, call, cudaErrorIllegalAddress, sticky},
                                               {.schedule = static_cast<std::uint64_t>(call % 3)});
        if (message.empty()) {
          // The workers' share of the calls varies, so the last ones may not have been made.
          CHECK((may_fail_quietly(function) || call > 2));
        } else {
          CHECK((has(message, "cudaErrorIllegalAddress") ||
                 has(message, "the step was not queued") || has(message, "NVIDIA driver")));
        }
      }
    }
  }
}

TEST_CASE("a device that is lost while a block runs ends it with one error, and stays usable") {
  for (const int work : {1, 11, 21, 31}) {
    Machine machine;
    CudaJob job({});
    machine.fail({"work", work, cudaErrorAssert, true});
    const std::string message = error_message(
        [&] {
          for (;;) (void)job.run({ArmKind::live, 0, 0, {}});
        },
        ErrorKind::device);
    CAPTURE(work);
    CAPTURE(message);
    CHECK(has(message, "cudaErrorAssert"));
    CHECK(has(message, "CUDA_LAUNCH_BLOCKING=1"));
    // The next block fails with the same error, which is not lost.
    CHECK(has(error_message(
                  [&] {
                    (void)job.run({ArmKind::live, 0, 0, {}});
                  },
                  ErrorKind::device),
              "cudaErrorAssert"));
  }
}

TEST_CASE("a call that fails once leaves a replayer that works") {
  Machine machine;
  CudaJob job({});
  const auto expected = job.run({ArmKind::live, 0, 0, {}});
  machine.fail({"cudaEventRecord", 40, cudaErrorLaunchFailure, false});
  CHECK(has(error_message(
                [&] {
                  for (;;) (void)job.run({ArmKind::live, 0, 0, {}});
                },
                ErrorKind::device),
            "cudaEventRecord"));
  // What the failed block had queued is done first. An arm that has not run begins as live did.
  const auto seen = job.run({ArmKind::replay, 1, 0, {}});
  REQUIRE(seen.size() >= expected.size());
  CHECK(std::equal(expected.rbegin(), expected.rend(), seen.rbegin()));
  CHECK(machine.violations() == std::vector<std::string>{});
}

TEST_CASE("a probe of the copy that fails leaves its figure empty") {
  Machine machine({.memory_bytes = std::size_t{256} << 20U});
  {
    CudaJob job({});
    CHECK(job.replayer.describe().copy_gb_per_s.value_or(0) == doctest::Approx(10).epsilon(0.001));
  }
  machine.fail({"cudaMemcpyAsync", 2, cudaErrorLaunchFailure, false});
  CudaJob job({});
  CHECK_FALSE(job.replayer.describe().copy_gb_per_s.has_value());
  CHECK_FALSE(job.run({ArmKind::live, 0, 0, {}}).empty());
  CHECK(machine.violations() == std::vector<std::string>{});
}

TEST_CASE("out of memory says what holds it and what to lower") {
  Machine machine({.memory_bytes = 1 << 20});
  const auto device = make_cuda_device(0);
  Buffer held(device->device_memory());
  held.reserve(600'000);
  Buffer more(device->device_memory());
  const std::string message = error_message([&] { more.reserve(500'000); }, ErrorKind::device);
  CHECK(has(message, "cuda:0 is out of memory"));
  CHECK(has(message, "500000 bytes"));
  CHECK(has(message, "batches and caches hold 600 kB"));
  CHECK(has(message, "lower batch_size"));
  more.reserve(100'000);  // the error did not persist
}

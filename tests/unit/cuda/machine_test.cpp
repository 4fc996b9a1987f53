// Which devices the CUDA device finds, on which it takes a context, and when it allocates.
#include <string>
#include <vector>

#include "cuda_stub/enqueue.hpp"
#include "support/cuda_job.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cuda_stub::Machine;
using test::CudaJob;
using test::error_message;
using test::has;

namespace {

std::string refusal(int ordinal) {
  return error_message([&] { (void)make_cuda_device(ordinal); }, ErrorKind::device);
}

cudaStream_t native(Stream& stream) { return static_cast<cudaStream_t>(stream.native()); }

}  // namespace

TEST_CASE("a missing driver, an old one and one without devices are told apart") {
  CHECK(has(refusal(0), "no NVIDIA driver was found"));
  CHECK(cuda_device_count() == 0);
  {
    Machine machine({.driver = 11080});
    CHECK(has(refusal(0), "the NVIDIA driver serves CUDA up to 11.8, this build needs 13.0"));
    CHECK(cuda_device_count() == 0);
  }
  Machine machine({.devices = 0});
  CHECK(has(refusal(0), "there is an NVIDIA driver, but no device"));
  CHECK(cuda_device_count() == 0);
}

TEST_CASE("a device that does not exist is refused with those that do") {
  Machine machine({.devices = 2});
  CHECK(cuda_device_count() == 2);
  CHECK(refusal(2) ==
        "there is no device cuda:2; found cuda:0 (Virtual GPU 0), cuda:1 (Virtual GPU 1)");
  CHECK(machine.contexts().empty());
}

TEST_CASE("a job on cuda:1 takes no context on device 0") {
  Machine machine({.devices = 2});
  for (const int workers : {0, 2}) {
    CudaJob job({.chain = {.samples = 56, .workers = workers}, .ordinal = 1});
    (void)job.run({ArmKind::live, 0, 0, {}});
    (void)job.run({ArmKind::replay, 3, 0, {}});
  }
  CHECK(machine.contexts() == std::vector<int>{1});
  CHECK(machine.violations() == std::vector<std::string>{});
}

TEST_CASE("two devices work side by side in one thread") {
  Machine machine({.devices = 2});
  CudaJob first({});
  CudaJob second({.ordinal = 1});
  const auto expected = first.run({ArmKind::live, 0, 0, {}});
  CHECK(second.run({ArmKind::live, 0, 0, {}}) == expected);
  CHECK(first.run({ArmKind::replay, 4, 0, {}}) == expected);
  CHECK(machine.violations() == std::vector<std::string>{});
}

TEST_CASE("timed steps neither allocate nor free device memory") {
  for (const int prefetch : {0, 1, 3}) {
    Machine machine;
    CudaJob job({.copy = {true, true, prefetch}});
    const auto calls = [&] {
      return machine.calls("cudaMalloc") + machine.calls("cudaFree") +
             machine.calls("cudaHostAlloc") + machine.calls("cudaFreeHost");
    };
    int at_first_timed = 0;
    job.step->before = [&](std::uint64_t index) {
      if (index == 1) at_first_timed = calls();
    };
    (void)job.run({ArmKind::live, 0, 0, {}}, 9, 1);
    CHECK(calls() == at_first_timed);
  }
}

TEST_CASE("a buffer that grows while the device works does not stall it, and is freed later") {
  Machine machine;
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  const auto done = device->make_event();
  {
    Buffer buffer(device->device_memory());
    std::byte* const first = buffer.reserve(1000);
    std::byte read{};
    device->copy_to_device(first, &read, 1, *stream, true);
    cuda_stub::enqueue(native(*stream), [&] { read = *first; });
    device->record(*done, *stream);
    buffer.reserve(2000);
    CHECK(machine.stalls() == 0);
    device->synchronize(*done);
    CHECK(read == std::byte{0});  // the kernel still found what it was given
  }
  CHECK(machine.stalls() == 0);
  CHECK(machine.calls("cudaFree") == 2);
}

TEST_CASE("memory that waits to be freed is freed if there is no room without it") {
  Machine machine({.memory_bytes = 1 << 20});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  cuda_stub::enqueue(native(*stream), [] {});
  Buffer buffer(device->device_memory());
  buffer.reserve(600'000);
  buffer.reserve(700'000);
  CHECK(machine.calls("cudaFree") == 1);
}

// A CUDA device that is full: what the tool and a library of the step keep is freed first, and
// errors say what holds the memory.
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_stub/enqueue.hpp"
#include "support/cuda_job.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/loop/step_call.hpp"

using namespace cachebisect;
using cuda_stub::Machine;
using test::error_message;
using test::has;

namespace {

constexpr std::size_t kMemory = 1 << 20;

/// Memory that a library took from the device and keeps for later.
class LibraryCache {
 public:
  explicit LibraryCache(std::size_t bytes) { REQUIRE(cudaMalloc(&data_, bytes) == cudaSuccess); }
  ~LibraryCache() { release(); }
  LibraryCache(const LibraryCache&) = delete;
  LibraryCache& operator=(const LibraryCache&) = delete;
  void release() {
    if (data_ == nullptr) return;
    cudaFree(data_);
    data_ = nullptr;
  }
  [[nodiscard]] bool is_empty() const { return data_ == nullptr; }

 private:
  void* data_ = nullptr;
};

/// Does what the test says.
class AnyStep final : public TrainStep {
 public:
  explicit AnyStep(std::function<void()> work) : work_(std::move(work)) {}
  [[nodiscard]] std::string name() const override { return "any"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda}; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override { work_(); }
  bool snapshot() override {
    work_();
    return true;
  }
  void restore() override { work_(); }
  std::optional<double> loss() override {
    work_();
    return 0;
  }
  void release_memory() override {
    if (cache != nullptr) cache->release();
  }

  LibraryCache* cache = nullptr;

 private:
  std::function<void()> work_;
};

/// Leaves a block that cannot be freed at once, because the device is at work.
void retire_memory(Device& device, Stream& stream, std::size_t bytes) {
  Buffer buffer(device.device_memory());
  buffer.reserve(bytes);
  cuda_stub::enqueue(static_cast<cudaStream_t>(stream.native()), [] {});
}

/// The part of a message before what the device says, which names the call that noticed.
std::string without_device(const std::string& message) {
  return message.substr(0, message.find("; CUDA: "));
}

std::string error_of_step(const std::function<void()>& work, Device& device, ErrorKind kind) {
  AnyStep step(work);
  const StepContext context{&device.compute_stream(), &device, 0};
  const std::string message = error_message([&] { call_step(step, {}, context); }, kind);
  const auto check_same = [&](const auto& call) {
    CHECK(without_device(error_message(call, kind)) == without_device(message));
  };
  check_same([&] { wait_for_loss(step, device); });
  check_same([&] { (void)keep_weights(step, device); });
  check_same([&] { restore_weights(step, device); });
  return message;
}

}  // namespace

TEST_CASE("a full device frees what a library keeps, then tries once more") {
  Machine machine({.memory_bytes = kMemory});
  const auto device = make_cuda_device(0);
  LibraryCache cache(600'000);
  Buffer buffer(device->device_memory());
  CHECK(has(error_message([&] { buffer.reserve(700'000); }, ErrorKind::device), "out of memory"));
  {
    const auto registered = device->when_out_of_memory([&] { cache.release(); });
    buffer.reserve(700'000);
    CHECK(cache.is_empty());
    CHECK(device->held_bytes() == 700'000);
  }
  bool called = false;
  {
    const auto ended = device->when_out_of_memory([&] { called = true; });
  }
  Buffer other(device->device_memory());
  CHECK(has(error_message([&] { other.reserve(700'000); }, ErrorKind::device), "out of memory"));
  CHECK_FALSE(called);
}

TEST_CASE("the loop lets its step free memory when batches find no room") {
  Machine machine({.memory_bytes = kMemory});
  const std::shared_ptr<Device> device = make_cuda_device(0);
  LibraryCache cache(kMemory - 1024);
  const auto step = std::make_shared<AnyStep>([] {});
  step->cache = &cache;
  PipelineReplayer replayer(test::cuda_chain({}), device, step);
  CHECK(replayer.run({{ArmKind::live, 0, 0, {}}, 3, 1, 0}, {}).steps == 3);
  CHECK(cache.is_empty());
}

TEST_CASE("a step, or the copy of its weights, is tried again if the tool had memory to free") {
  Machine machine({.memory_bytes = kMemory});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  int tries = 0;
  AnyStep step([&] {
    ++tries;
    void* data = nullptr;
    if (cudaMalloc(&data, 700'000) != cudaSuccess) throw OutOfMemory("700000 bytes");
    cudaFree(data);
  });
  retire_memory(*device, *stream, 600'000);
  call_step(step, {}, {&device->compute_stream(), device.get(), 0});
  CHECK(tries == 2);
  retire_memory(*device, *stream, 600'000);
  CHECK(keep_weights(step, *device));
  CHECK(tries == 4);
}

TEST_CASE("a step without memory ends with what holds it and what to lower") {
  Machine machine({.memory_bytes = kMemory});
  const auto device = make_cuda_device(0);
  Buffer held(device->device_memory());
  held.reserve(600'000);
  CHECK(error_of_step([] { throw OutOfMemory("tried to allocate 2 GB"); }, *device,
                      ErrorKind::device) ==
        "training step 'any': cuda:0 is out of memory: tried to allocate 2 GB; batches and caches "
        "hold 600 kB of 1.0 MB; lower batch_size, copy.prefetch or --cache-device, or end other "
        "processes (nvidia-smi)");
}

TEST_CASE("an error of a step is the device's if the device has failed, else one of data") {
  const auto fail = [] { throw std::runtime_error("the sum is wrong"); };
  {
    Machine machine;
    const auto device = make_cuda_device(0);
    CHECK(error_of_step(fail, *device, ErrorKind::data) == "training step 'any': the sum is wrong");
  }
  Machine machine;
  const auto device = make_cuda_device(0);
  (void)device->compute_stream();
  machine.fail({"cudaStreamQuery", 1, cudaErrorIllegalAddress, true});
  const std::string message = error_of_step(fail, *device, ErrorKind::device);
  CHECK(has(message, "training step 'any': the sum is wrong; CUDA: "));
  CHECK(has(message, "cudaErrorIllegalAddress"));
  CHECK(has(message, "run again with CUDA_LAUNCH_BLOCKING=1"));
}

TEST_CASE("what a step says of a lost device is completed once by what the device says") {
  Machine machine;
  const auto device = make_cuda_device(0);
  (void)device->compute_stream();
  machine.fail({"cudaStreamQuery", 1, cudaErrorAssert, true});
  const std::string own = error_of_step(
      [] { throw Error(ErrorKind::device, "nothing was queued"); }, *device, ErrorKind::device);
  CHECK(has(own, "training step 'any': nothing was queued; CUDA: "));
  CHECK(has(own, "run again with CUDA_LAUNCH_BLOCKING=1"));
  const std::string of_device =
      error_of_step([&] { device->throw_if_failed(); }, *device, ErrorKind::device);
  CHECK(has(of_device, "training step 'any': CUDA: "));
  CHECK(of_device.find("cudaErrorAssert") == of_device.rfind("cudaErrorAssert"));
}

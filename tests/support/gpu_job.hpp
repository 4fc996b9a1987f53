// Jobs on a CUDA device, real or of the stub runtime: what reaches the training step is read on the
// device, through the Device interface alone.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

#ifdef CACHEBISECT_ON_CUDA_STUB
#include "cuda_stub/machine.hpp"
#endif

namespace cachebisect::test {

#ifdef CACHEBISECT_ON_CUDA_STUB
/// Exists before test cases ask for devices.
inline const cuda_stub::Machine kStubMachine({.devices = 2});
constexpr bool kOnStub = true;
#else
constexpr bool kOnStub = false;
#endif

/// For doctest::skip().
inline bool no_cuda_device() { return cuda_device_count() == 0; }
inline bool no_second_cuda_device() { return cuda_device_count() < 2; }

/// Copies bytes between device and page-locked memory, in the order of the stream.
inline void enqueue_copy(Device& device, const std::byte* from, std::byte* to, std::size_t bytes,
                         Stream& stream) {
  const Shape shape{static_cast<std::int64_t>(bytes)};
  device.ops().cast(dense_view(from, DType::uint8, shape), dense_view(to, DType::uint8, shape),
                    stream);
}

/// Reads each batch on the device, `delay_seconds` after the step was queued.
class ReadingStep final : public TrainStep {
 public:
  /// Memory for this many steps is made here: making it later would wait for the device.
  ReadingStep(Device& device, std::size_t steps, std::size_t bytes_per_step)
      : device_(&device), done_(device.make_event()) {
    for (std::size_t i = 0; i < steps; ++i) {
      kept_.emplace_back(device.slot_memory(true));
      kept_.back().reserve(bytes_per_step);
    }
  }

  [[nodiscard]] std::string name() const override { return "reading"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda}; }

  void step(const DeviceBatch& batch, const StepContext& context) override {
    if (views_.size() == kept_.size()) throw Error(ErrorKind::internal, "more steps than planned");
    if (delay_seconds > 0) device_->enqueue_work(*context.stream, delay_seconds);
    const Buffer& kept = kept_[views_.size()];
    DeviceBatch view = batch;
    std::size_t at = 0;
    for (BatchField& field : view.fields) {
      const std::size_t bytes = field.tensor.byte_size();
      if (at + bytes > kept.capacity()) throw Error(ErrorKind::internal, "a batch is too large");
      enqueue_copy(*device_, field.tensor.data, kept.data() + at, bytes, *context.stream);
      field.tensor.data = kept.data() + at;
      at += (bytes + 63) / 64 * 64;
    }
    views_.push_back(std::move(view));
    device_->record(*done_, *context.stream);
  }

  /// What all steps since the last call have read.
  std::vector<SeenBatch> take() {
    if (!views_.empty()) device_->synchronize(*done_);
    std::vector<SeenBatch> seen;
    for (const DeviceBatch& view : views_) seen.push_back(record(view));
    views_.clear();
    return seen;
  }

  double delay_seconds = 0;

 private:
  Device* device_;
  std::unique_ptr<Event> done_;
  std::vector<Buffer> kept_;
  std::vector<DeviceBatch> views_;
};

constexpr int kGpuSteps = 9;
constexpr int kGpuWarmup = 2;

/// random_chain() on a CUDA device.
class GpuJob {
 public:
  explicit GpuJob(const ChainOptions& options, std::shared_ptr<Device> device)
      : device_(std::move(device)),
        step_(std::make_shared<ReadingStep>(*device_, kGpuSteps + kGpuWarmup, 1 << 14)),
        replayer_(random_chain(options), device_, step_,
                  ReplayOptions{.io = IoMode::warm, .keep_queues = false}) {
    replayer_.prepare({}, {});
  }

  std::vector<SeenBatch> run(const Arm& arm, double delay_seconds = 0) {
    (void)step_->take();
    step_->delay_seconds = delay_seconds;
    (void)replayer_.run({arm, kGpuSteps, kGpuWarmup, 0}, {});
    return step_->take();
  }

  [[nodiscard]] int boundaries() const {
    return static_cast<int>(replayer_.describe().stages.size());
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<ReadingStep> step_;
  PipelineReplayer replayer_;
};

/// The batches of the first blocks of the live loop of the same chain on the cpu.
inline std::vector<std::vector<SeenBatch>> live_on_cpu(const ChainOptions& options, int blocks) {
  const auto step = std::make_shared<RecordingStep>();
  PipelineReplayer replayer(random_chain(options), make_cpu_device(), step,
                            ReplayOptions{.io = IoMode::warm, .keep_queues = false});
  replayer.prepare({}, {});
  std::vector<std::vector<SeenBatch>> seen;
  for (int i = 0; i < blocks; ++i) {
    (void)replayer.run({{ArmKind::live, 0, 0, {}}, kGpuSteps, kGpuWarmup, 0}, {});
    seen.push_back(std::exchange(step->seen, {}));
  }
  return seen;
}

/// Every arm gives the live batches of the cpu. `block`: number of the block of each arm.
inline void check_every_arm(GpuJob& job, const ChainOptions& options, double delay_seconds = 0,
                            int block = 0) {
  const auto expected = live_on_cpu(options, block + 1).back();
  CHECK(job.run({ArmKind::live, 0, 0, {}}, delay_seconds) == expected);
  for (int boundary = 1; boundary <= job.boundaries(); ++boundary) {
    CAPTURE(boundary);
    CHECK(job.run({ArmKind::replay, boundary, 0, {}}, delay_seconds) == expected);
    CHECK(job.run({ArmKind::bypass, 0, boundary, {}}, delay_seconds) == expected);
  }
  if (options.workers > 0) {
    CHECK(job.run({ArmKind::shadow, 0, 0, {}}, delay_seconds) == expected);
  }
}

}  // namespace cachebisect::test

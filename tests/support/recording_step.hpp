// Training steps for tests: one records what reaches it, one takes time on the device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::test {

/// What reached the training step: the samples and every byte of every field.
struct SeenBatch {
  std::vector<std::uint64_t> indices;
  std::vector<std::string> names;
  std::vector<std::string> bytes;
  friend bool operator==(const SeenBatch&, const SeenBatch&) = default;
};

inline SeenBatch record(const Batch& batch) {
  SeenBatch seen;
  for (const SampleIndex index : batch.indices) seen.indices.push_back(index);
  for (const BatchField& field : batch.fields) {
    seen.names.push_back(field.name + " " + std::string(to_string(field.tensor.dtype)) +
                         field.tensor.shape.to_string());
    seen.bytes.emplace_back(reinterpret_cast<const char*>(field.tensor.data),
                            field.tensor.byte_size());
  }
  return seen;
}

/// Records every batch; for devices whose memory the host can read, such as FakeDevice.
class RecordingStep final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "recording"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override {
    return {DeviceKind::cpu, DeviceKind::cuda};
  }
  void step(const DeviceBatch& batch, const StepContext& /*context*/) override {
    seen.push_back(record(batch));
    if (then) then(batch);
  }
  bool snapshot() override {
    ++snapshots;
    return true;
  }
  void restore() override { ++restores; }

  std::vector<SeenBatch> seen;
  std::function<void(const DeviceBatch&)> then;
  int snapshots = 0;
  int restores = 0;
};

/// Takes `seconds` of the device's timeline.
class TimedStep final : public TrainStep {
 public:
  explicit TimedStep(double step_seconds) : seconds_(step_seconds) {}
  [[nodiscard]] std::string name() const override { return "timed"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return {DeviceKind::emulated}; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    indices.push_back(context.index);
    context.device->enqueue_work(*context.stream, seconds_);
  }

  std::vector<std::uint64_t> indices;

 private:
  double seconds_;
};

}  // namespace cachebisect::test

// Stages of the kinds that work on batches, and a training step, that fail on command.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::test {

/// Calls its function once it is armed, because building a pipeline may run its callables.
struct Fuse {
  std::function<void()> raise{};
  bool armed = false;
  void pass() const {
    if (armed) raise();
  }
};

using SharedFuse = std::shared_ptr<Fuse>;

class FailingCollate final : public CollateStage {
 public:
  explicit FailingCollate(SharedFuse fuse) : fuse_(std::move(fuse)) {}
  [[nodiscard]] BatchSpec infer(const SampleSpec& input, std::int64_t batch_size) override {
    BatchSpec spec = input;
    for (FieldSpec& field : spec) field.shape = field.shape.with_leading(batch_size);
    return spec;
  }
  [[nodiscard]] TensorView row(const FieldSpec& /*batch_field*/, std::byte* /*base*/,
                               std::int64_t /*row*/) const override {
    fuse_->pass();
    return {};
  }
  void gather(std::span<const Sample> /*samples*/, OwnedHostBatch& /*out*/) const override {
    fuse_->pass();
  }

 private:
  SharedFuse fuse_;
};

class FailingBatch final : public BatchStage {
 public:
  explicit FailingBatch(SharedFuse fuse) : fuse_(std::move(fuse)) {}
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const HostBatch& /*input*/, OwnedHostBatch& /*out*/,
               const SampleContext& /*context*/) const override {
    fuse_->pass();
  }

 private:
  SharedFuse fuse_;
};

class FailingDeviceStage final : public DeviceStage {
 public:
  explicit FailingDeviceStage(SharedFuse fuse) : fuse_(std::move(fuse)) {}
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const DeviceBatch& /*input*/, OwnedDeviceBatch& /*out*/,
               const DeviceContext& /*context*/) const override {
    fuse_->pass();
  }

 private:
  SharedFuse fuse_;
};

class FailingStep final : public TrainStep {
 public:
  FailingStep(SharedFuse fuse, std::string where)
      : fuse_(std::move(fuse)), where_(std::move(where)) {}
  [[nodiscard]] std::string name() const override { return "broken"; }
  [[nodiscard]] std::vector<ExpectedField> expects() const override {
    pass("expects");
    return {};
  }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override { pass("step"); }
  std::optional<double> loss() override {
    pass("loss");
    return 0;
  }
  bool snapshot() override {
    pass("snapshot");
    return true;
  }
  void restore() override { pass("restore"); }

 private:
  void pass(const char* here) const {
    if (where_ == here) fuse_->pass();
  }
  SharedFuse fuse_;
  std::string where_;
};

}  // namespace cachebisect::test

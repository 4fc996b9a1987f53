// One stream per device computes: steps and device stages of every loop, and of the caches.
#include <memory>
#include <set>
#include <string>

#include "support/cuda_job.hpp"
#include "support/errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cuda_stub::Machine;

namespace {

using Streams = std::shared_ptr<std::set<const void*>>;

/// Notes the stream that it is given.
class NotingStage final : public DeviceStage {
 public:
  explicit NotingStage(Streams streams) : streams_(std::move(streams)) {}
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override { return input; }
  void process(const DeviceBatch& /*input*/, OwnedDeviceBatch& /*out*/,
               const DeviceContext& context) const override {
    streams_->insert(context.stream().native());
  }

 private:
  Streams streams_;
};

Pipeline make_pipeline(const Streams& streams) {
  return PipelineBuilder()
      .source("read", 96,
              [](SampleIndex, Sample& out) { out.field("image").resize_as<std::uint8_t>({16}); })
      .collate()
      .copy()
      .stage("noting", {"custom.noting", {}, std::make_shared<NotingStage>(streams)})
      .batch_size(4)
      .workers(1)
      .build();
}

Arm with_prefetch() { return {ArmKind::live, 0, 0, {{"prefetch", "4"}}}; }

/// Takes an hour of the device, and fails at once.
class HourlyStep final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "hourly"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override { return {DeviceKind::emulated}; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    context.device->enqueue_work(*context.stream, 3600);
    throw Error(ErrorKind::data, "no more");
  }
};

}  // namespace

TEST_CASE("caches, what-ifs and other replayers of a device all compute on one stream") {
  Machine machine;
  const auto streams = std::make_shared<std::set<const void*>>();
  const std::shared_ptr<Device> device = make_cuda_device(0);
  const std::shared_ptr<TrainStep> step = make_callback_step(
      [streams](const DeviceBatch& /*batch*/, const StepContext& context) {
        streams->insert(context.stream->native());
      },
      {DeviceKind::cuda});
  ReplayOptions options;
  options.rebuild = [&](const Overrides&) { return PipelineVariant{make_pipeline(streams)}; };
  for (int replayers = 0; replayers < 2; ++replayers) {
    PipelineReplayer replayer(make_pipeline(streams), device, step, options);
    replayer.prepare({}, {});
    (void)replayer.run({{ArmKind::live, 0, 0, {}}, 3, 1, 0}, {});
    (void)replayer.run({with_prefetch(), 3, 1, 0}, {});
    (void)replayer.run({{ArmKind::replay, 4, 0, {}}, 3, 1, 0}, {});
  }
  CHECK(streams->size() == 1);
  CHECK(streams->count(nullptr) == 0);
  CHECK(machine.violations() == std::vector<std::string>{});
}

TEST_CASE("a block does not wait for what a failed block of another loop had queued") {
  ReplayOptions options;
  const auto streams = std::make_shared<std::set<const void*>>();
  options.rebuild = [&](const Overrides&) {
    return PipelineVariant{make_pipeline(streams), std::make_shared<HourlyStep>()};
  };
  PipelineReplayer replayer(make_pipeline(streams), make_emulated_device({}),
                            make_emulated_step({.step_ms = 1}, 1), options);
  CHECK(test::error_message(
            [&] {
              (void)replayer.run({with_prefetch(), 3, 1, 0}, {});
            },
            ErrorKind::data) == "training step 'hourly': no more");
  CHECK(replayer.run({{ArmKind::live, 0, 0, {}}, 3, 1, 0}, {}).steps == 3);
}

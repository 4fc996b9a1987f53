// Weights and settings of the process belong to the step, however many pipelines train it.
#include <string>
#include <utility>

#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/replay/trainer.hpp"

using namespace cachebisect;

namespace {

/// A step that needs a setting of the process to have its own value.
class SettingStep final : public TrainStep {
 public:
  SettingStep(int& setting, int own) : setting_(&setting), own_(own) {}
  [[nodiscard]] std::string name() const override { return "setting"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {
    if (!before_) before_ = std::exchange(*setting_, own_);
    CHECK(*setting_ == own_);
  }
  void restore_process() noexcept override {
    if (before_) *setting_ = *std::exchange(before_, std::nullopt);
  }

 private:
  int* setting_;
  int own_;
  std::optional<int> before_;
};

Arm live_with(const Overrides& overrides = {}) { return {ArmKind::live, 0, 0, overrides}; }

}  // namespace

TEST_CASE("the weights of a step are kept once, whichever trainer uses it") {
  const auto one = std::make_shared<test::RecordingStep>();
  const auto two = std::make_shared<test::RecordingStep>();
  const std::shared_ptr<TrainStep> other = make_callback_step([](const DeviceBatch&) {});
  const std::shared_ptr<Device> cpu = make_cpu_device();
  TrainedSteps steps;
  CHECK(steps.keep(one, cpu));
  CHECK(steps.keep(one, cpu));
  CHECK(steps.keep(two, cpu));
  CHECK_FALSE(steps.keep(other, cpu));
  CHECK_FALSE(steps.keep(other, cpu));
  CHECK(one->snapshots == 1);
  CHECK(two->snapshots == 1);
  steps.restore_weights();
  CHECK(one->restores == 1);
  CHECK(two->restores == 1);
}

TEST_CASE("a step restores the process when another one runs, and at the end") {
  int setting = 0;
  const std::shared_ptr<Device> cpu = make_cpu_device();
  const auto one = std::make_shared<SettingStep>(setting, 1);
  const auto two = std::make_shared<SettingStep>(setting, 2);
  {
    TrainedSteps steps;
    steps.keep(one, cpu);
    steps.keep(two, cpu);
    for (const auto& [step, own] : {std::pair{one, 1}, std::pair{one, 1}, std::pair{two, 2}}) {
      steps.use(*step);
      step->step({}, {});
      CHECK(setting == own);
    }
    steps.use(*one);
    CHECK(setting == 0);
    one->step({}, {});
  }
  CHECK(setting == 0);
}

TEST_CASE("a what-if with a step of its own leaves weights and settings of the other alone") {
  int setting = 0;
  const auto step = std::make_shared<SettingStep>(setting, 1);
  ReplayOptions options;
  options.rebuild = [&](const Overrides&) {
    return PipelineVariant{.pipeline = test::random_chain({.workers = 1}),
                           .step = std::make_shared<SettingStep>(setting, 2)};
  };
  {
    PipelineReplayer replayer(test::random_chain({.workers = 1}), make_cpu_device(), step, options);
    for (int round = 0; round < 3; ++round) {
      replayer.begin_round();
      (void)replayer.run({live_with(), 2, 1, 0}, {});
      CHECK(setting == 1);
      (void)replayer.run({live_with({{"workers", "2"}}), 2, 1, 0}, {});
      CHECK(setting == 2);
    }
  }
  CHECK(setting == 0);
}

TEST_CASE("a what-if that shares the step does not overwrite the kept weights") {
  const auto step = std::make_shared<test::RecordingStep>();
  ReplayOptions options;
  options.rebuild = [&](const Overrides&) {
    return PipelineVariant{.pipeline = test::random_chain({.workers = 1})};
  };
  PipelineReplayer replayer(test::random_chain({.workers = 1}), make_cpu_device(), step, options);
  (void)replayer.run({live_with(), 2, 1, 0}, {});
  (void)replayer.run({live_with({{"prefetch", "4"}}), 2, 1, 0}, {});
  CHECK(step->snapshots == 1);
  replayer.begin_round();
  CHECK(step->restores == 1);
}

#include "cachebisect/replay/trainer.hpp"

#include <utility>

#include "cachebisect/replay/loop/step_call.hpp"
#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {
namespace {

TrainStep& checked(TrainStep& step, const Pipeline& pipeline, const Device& device) {
  check_device(step, device.info());
  check_expectations(step, pipeline.device_spec());
  return step;
}

}  // namespace

TrainedSteps::~TrainedSteps() {
  if (used_ != nullptr) used_->restore_process();
}

bool TrainedSteps::keep(const std::shared_ptr<TrainStep>& step,
                        const std::shared_ptr<Device>& device) {
  const auto [place, is_new] = kept_.try_emplace(step.get(), Kept{device, step});
  if (is_new) place->second.restores = keep_weights(*step, *device);
  return place->second.restores;
}

void TrainedSteps::restore_weights() {
  for (const auto& [pointer, kept] : kept_) {
    if (kept.restores) cachebisect::restore_weights(*kept.step, *kept.device);
  }
}

void TrainedSteps::use(TrainStep& step) {
  TrainStep* const before = std::exchange(used_, &step);
  if (before != nullptr && before != &step) before->restore_process();
}

Trainer::Trainer(Pipeline chain, std::shared_ptr<Device> on, std::shared_ptr<TrainStep> trained,
                 int workers, LiveOrder from, TrainedSteps& steps)
    : pipeline(std::move(chain)),
      device(std::move(on)),
      step(std::move(trained)),
      loop(pipeline, *device, checked(*step, pipeline, *device), pipeline.copy_options(),
           pipeline.spec().train.sync_every),
      loader_options{.workers = workers,
                     .prefetch = pipeline.spec().prefetch,
                     .pinned = pipeline.copy_options().pinned,
                     .loader = pipeline.spec().loader},
      loader(pipeline, *device, loader_options),
      order(std::move(from)),
      restores_weights(steps.keep(step, device)) {}

}  // namespace cachebisect

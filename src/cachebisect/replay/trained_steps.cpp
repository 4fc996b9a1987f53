#include "cachebisect/replay/trained_steps.hpp"

#include <utility>

#include "cachebisect/replay/loop/step_call.hpp"

namespace cachebisect {

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

}  // namespace cachebisect

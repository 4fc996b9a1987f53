#include "cachebisect/replay/trained_steps.hpp"

#include <utility>

#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {

TrainedSteps::~TrainedSteps() {
  if (used_ != nullptr) used_->restore_process();
}

bool TrainedSteps::keep(const std::shared_ptr<TrainStep>& step) {
  const auto [place, is_new] = kept_.try_emplace(step.get(), Kept{step});
  if (is_new) place->second.restores = in_train_step(*step, [&] { return step->snapshot(); });
  return place->second.restores;
}

void TrainedSteps::restore_weights() {
  for (const auto& [pointer, kept] : kept_) {
    if (!kept.restores) continue;
    TrainStep& step = *kept.step;
    in_train_step(step, [&] { step.restore(); });
  }
}

void TrainedSteps::use(TrainStep& step) {
  TrainStep* const before = std::exchange(used_, &step);
  if (before != nullptr && before != &step) before->restore_process();
}

}  // namespace cachebisect

// A training step made from the user's callable.
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {
namespace {

class CallbackStep final : public TrainStep {
 public:
  explicit CallbackStep(std::function<void(const DeviceBatch&)> callback)
      : callback_(std::move(callback)) {}

  [[nodiscard]] std::string name() const override { return "callback"; }
  void step(const DeviceBatch& batch, const StepContext& /*context*/) override { callback_(batch); }

 private:
  std::function<void(const DeviceBatch&)> callback_;
};

}  // namespace

std::unique_ptr<TrainStep> make_callback_step(std::function<void(const DeviceBatch&)> callback) {
  if (!callback) throw Error(ErrorKind::usage, "the callback of the training step is empty");
  return std::make_unique<CallbackStep>(std::move(callback));
}

}  // namespace cachebisect

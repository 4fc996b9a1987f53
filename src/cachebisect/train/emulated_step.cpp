// A training step that only takes time on the emulated device.
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/jitter.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {
namespace {

std::uint64_t jitter_key(std::uint64_t seed) {
  return RandomStream({.seed = seed, .stage = hash_name("train")}).next_u64();
}

class EmulatedStep final : public TrainStep {
 public:
  EmulatedStep(const EmulateSpec& emulate, std::uint64_t seed)
      : mean_seconds_(emulate.step_ms * 1e-3), jitter_(emulate.jitter, jitter_key(seed)) {}

  [[nodiscard]] std::string name() const override { return "emulated"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    context.device->enqueue_work(*context.stream, mean_seconds_ * jitter_.factor(context.index));
  }
  // There are no weights to restore.
  bool snapshot() override { return true; }

 private:
  double mean_seconds_;
  JitterSequence jitter_;
};

}  // namespace

std::unique_ptr<TrainStep> make_emulated_step(const EmulateSpec& emulate, std::uint64_t seed) {
  if (!(emulate.step_ms >= 0)) {
    throw Error(ErrorKind::usage,
                "emulate: step_ms must be at least 0, it is " + format_exact(emulate.step_ms));
  }
  return std::make_unique<EmulatedStep>(emulate, seed);
}

}  // namespace cachebisect

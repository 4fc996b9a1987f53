// A training step that only takes time, on the emulated device or on CUDA.
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
      : mean_seconds_(emulate.step_ms * 1e-3),
        launches_(emulate.launches),
        jitter_(emulate.jitter, jitter_key(seed)) {}

  [[nodiscard]] std::string name() const override { return "emulated"; }
  [[nodiscard]] std::vector<DeviceKind> devices() const override {
    return {DeviceKind::emulated, DeviceKind::cuda};
  }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    const double seconds = mean_seconds_ * jitter_.factor(context.index) / launches_;
    for (int i = 0; i < launches_; ++i) context.device->enqueue_work(*context.stream, seconds);
  }
  // There are no weights to restore.
  bool snapshot() override { return true; }

 private:
  double mean_seconds_;
  int launches_;
  JitterSequence jitter_;
};

}  // namespace

std::unique_ptr<TrainStep> make_emulated_step(const EmulateSpec& emulate, std::uint64_t seed) {
  if (!(emulate.step_ms >= 0)) {
    throw Error(ErrorKind::usage,
                "emulate: step_ms must be at least 0, it is " + format_exact(emulate.step_ms));
  }
  if (emulate.launches < 1) {
    throw Error(ErrorKind::usage,
                "emulate: launches must be at least 1, it is " + std::to_string(emulate.launches));
  }
  return std::make_unique<EmulatedStep>(emulate, seed);
}

}  // namespace cachebisect

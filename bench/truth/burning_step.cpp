// A training step that takes cores from the workers.
#include <atomic>
#include <thread>

#include "bench/truth/contention.hpp"

#include "cachebisect/base/pace.hpp"

namespace cachebisect::truth {
namespace {

class BurningStep final : public TrainStep {
 public:
  BurningStep(int threads, double seconds) : seconds_(seconds) {
    for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
  }
  ~BurningStep() override {
    quitting_ = true;
    begin();
  }
  BurningStep(const BurningStep&) = delete;
  BurningStep& operator=(const BurningStep&) = delete;

  [[nodiscard]] std::string name() const override { return "burning"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {
    busy_ = static_cast<int>(helpers_.size());
    begin();
    const PaceOfThread use(&pace_);
    burn_cpu(seconds_);
    for (int left = busy_; left > 0; left = busy_) busy_.wait(left);
  }
  // There are no weights that a round could leave changed.
  bool snapshot() override { return true; }

 private:
  void begin() {
    steps_.fetch_add(1);
    steps_.notify_all();
  }

  void help() {
    WorkerPace pace;
    const PaceOfThread use(&pace);
    for (unsigned seen = 0;;) {
      steps_.wait(seen);
      ++seen;
      if (quitting_) return;
      burn_cpu(seconds_);
      busy_.fetch_sub(1);
      busy_.notify_all();
    }
  }

  double seconds_;
  WorkerPace pace_;
  std::atomic<unsigned> steps_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> quitting_{false};
  std::vector<std::jthread> helpers_;  // last: they use the members above
};

}  // namespace

std::shared_ptr<TrainStep> make_burning_step(int threads, double seconds) {
  return std::make_shared<BurningStep>(threads, seconds);
}

}  // namespace cachebisect::truth

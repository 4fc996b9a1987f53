// A run takes little longer than its budget, also if cached samples are slow to replace.
#include <stop_token>

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

constexpr double kFreshenSeconds = 5;
constexpr double kBudgetSeconds = 30;

/// Replacing the samples takes its time, in virtual seconds.
class SlowToFreshen final : public Replayer {
 public:
  explicit SlowToFreshen(const SimulatedChain& chain) : inner_(chain, {}) {}

  [[nodiscard]] ChainDescription describe() const override { return inner_.describe(); }
  [[nodiscard]] bool supports(const Arm& arm) const override { return inner_.supports(arm); }
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    return inner_.prepare(budget, stop);
  }
  bool freshen(std::uint64_t /*samples*/, const std::stop_token& /*stop*/) override {
    ++freshened;
    return true;
  }
  void begin_round() override {
    ++rounds;
    inner_.begin_round();
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    return inner_.run(request, stop);
  }
  [[nodiscard]] double clock() const override {
    return inner_.clock() + kFreshenSeconds * freshened;
  }
  [[nodiscard]] MachineReading read_machine() const override { return inner_.read_machine(); }

  int freshened = 0;
  int rounds = 0;

 private:
  SimulatedReplayer inner_;
};

}  // namespace

TEST_CASE("replacing slow samples takes no longer than the time measured") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 4e-3}};
  chain.step_seconds = 12e-3;
  SlowToFreshen replayer(chain);
  const Report report = bisect(replayer, {.budget_seconds = kBudgetSeconds});
  CHECK(report.verdict.rounds > 0);
  CHECK(replayer.freshened > 0);
  CHECK(replayer.freshened < replayer.rounds);
  CHECK(kFreshenSeconds * (replayer.freshened - 1) <= report.timing.measure_seconds);
}

// A run takes little longer than its budget, also if cached samples are slow to replace.
#include <stop_token>

#include "support/forwarding_replayer.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;

namespace {

constexpr double kFreshenSeconds = 5;
constexpr double kBudgetSeconds = 30;

/// Replacing the samples takes its time, in virtual seconds.
class SlowToFreshen final : public test::ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;

  bool freshen(std::uint64_t /*samples*/, const std::stop_token& /*stop*/) override {
    ++freshened;
    return true;
  }
  void begin_round() override {
    ++rounds;
    ForwardingReplayer::begin_round();
  }
  [[nodiscard]] double clock() const override {
    return ForwardingReplayer::clock() + kFreshenSeconds * freshened;
  }

  int freshened = 0;
  int rounds = 0;
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

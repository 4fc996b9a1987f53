// A flat chain on a device that is fast after a rest: what both runs in one piece show is held.
#include <stop_token>

#include "support/forwarding_replayer.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;

namespace {

constexpr double kFasterInBlocks = 0.98;  ///< below what counts as another speed in one piece

/// In blocks live is faster than the training step alone, as if it rested more.
class RestedDevice final : public test::ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription chain = ForwardingReplayer::describe();
    chain.device_clock_falls = true;
    return chain;
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockResult result = ForwardingReplayer::run(request, stop);
    const bool in_one_piece = request.groups > 1;
    if (request.arm.kind == ArmKind::replay && request.arm.boundary == 0 && !in_one_piece) {
      result.seconds *= kFasterInBlocks;
    }
    return result;
  }
};

}  // namespace

TEST_CASE("the loss of a flat chain holds what live and the step alone lose in one piece") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-5}};
  chain.step_seconds = 5e-3;
  RestedDevice replayer(chain);
  const Report report = bisect(replayer, {.explain = false});
  CHECK(report.verdict.kind == VerdictKind::flat);
  REQUIRE(report.ceiling_sustained.has_value());
  REQUIRE(report.loss.total.interval.has_value());
  CHECK(*report.loss.total.value < 0);
  CHECK(report.loss.total.interval->low <= *report.loss.total.value);
  CHECK(report.loss.total.interval->high > 0);
}

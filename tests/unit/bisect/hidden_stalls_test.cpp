// Stalls that the rounds happened to miss, and the run in one piece did not.
#include <stop_token>

#include "support/forwarding_replayer.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;
using test::has;

namespace {

constexpr double kStallSeconds = 0.2;
constexpr int kGroupsPerStall = 8;
constexpr int kBlocksPerStall = 3;

/// The first stage stalls: in one piece always, in blocks from the one with number `quiet` on.
class LateStalls final : public test::ForwardingReplayer {
 public:
  LateStalls(const SimulatedChain& chain, int quiet)
      : ForwardingReplayer(chain, {.noise = {.white_cv = 0.002}}), quiet_(quiet) {}

  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockResult result = ForwardingReplayer::run(request, stop);
    const Arm& arm = request.arm;
    const bool runs_first = arm.kind == ArmKind::replay && arm.boundary == 0;
    if (!runs_first) return result;
    if (request.groups > 1) {
      stall_in_groups(result);
    } else if (blocks_++ >= quiet_ && blocks_ % kBlocksPerStall == 0) {
      result.seconds += kStallSeconds;
    }
    return result;
  }

 private:
  static void stall_in_groups(BlockResult& run) {
    const auto groups = static_cast<double>(run.group_taus.size());
    for (std::size_t i = 1; i < run.group_taus.size(); i += kGroupsPerStall) {
      run.group_taus[i] += kStallSeconds * groups / static_cast<double>(run.samples);
      run.seconds += kStallSeconds;
    }
  }

  int quiet_;
  int blocks_ = 0;
};

/// Without stalls the second stage costs 9%.
Report report_with(int quiet, double budget_seconds) {
  SimulatedChain chain;
  chain.stages = {{.name = "fetch", .category = Category::read, .seconds = 1e-5},
                  {.name = "steady", .category = Category::decode, .seconds = 11e-3 / 8}};
  chain.workers = 1;
  chain.batch_size = 8;
  chain.step_seconds = 10e-3;
  LateStalls replayer(chain, quiet);
  return bisect(replayer, {.budget_seconds = budget_seconds, .explain = false});
}

constexpr int kBeforeVerdict = 8;
constexpr int kNever = 1 << 20;

}  // namespace

TEST_CASE("stalls of the run in one piece are looked for, and their stage is named") {
  const Report report = report_with(kBeforeVerdict, 60);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "fetch");
}

TEST_CASE("stalls that no block meets lose their weight") {
  const Report report = report_with(kNever, 60);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "steady");
  CHECK(report.verdict.rounds > kBeforeVerdict);
}

TEST_CASE("a steady stage does not lead where stalls outweigh it to the end") {
  const Report report = report_with(kNever, 4);
  CHECK(report.verdict.kind == VerdictKind::inconclusive);
  CHECK(has(report.verdict.text, "Live stalls"));
  CHECK_FALSE(report.verdict.certified_after_seconds.has_value());
}

// A rank that is always the slowest is told from slowness that moves between ranks, in virtual
// time.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/served_ranks.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr int kWorld = 4;

SimulatedChain waiting_chain(double wait_seconds) {
  SimulatedChain chain;
  chain.stages = {{.name = "read",
                   .category = Category::read,
                   .kind = CostKind::wait,
                   .seconds = wait_seconds}};
  chain.workers = 2;
  chain.step_seconds = 2e-3;
  return chain;
}

/// A rank that is slow in some blocks.
class SometimesSlow final : public Replayer {
 public:
  using IsSlow = std::function<bool(int block)>;
  SometimesSlow(unsigned seed, IsSlow is_slow)
      : fast_(waiting_chain(1e-4), {.seed = seed, .noise = {.white_cv = 0.01}}),
        slow_(waiting_chain(20e-3), {.seed = seed, .noise = {.white_cv = 0.01}}),
        is_slow_(std::move(is_slow)) {}

  [[nodiscard]] ChainDescription describe() const override { return fast_.describe(); }
  [[nodiscard]] bool supports(const Arm& arm) const override { return fast_.supports(arm); }
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    static_cast<void>(slow_.prepare(budget, stop));
    return fast_.prepare(budget, stop);
  }
  void begin_round() override {
    fast_.begin_round();
    slow_.begin_round();
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    const double began = clock();
    BlockResult block = (is_slow_(blocks_++) ? slow_ : fast_).run(request, stop);
    block.start_seconds = began;
    return block;
  }
  [[nodiscard]] double clock() const override { return fast_.clock() + slow_.clock(); }

 private:
  SimulatedReplayer fast_;
  SimulatedReplayer slow_;
  IsSlow is_slow_;
  int blocks_ = 0;
};

/// Any of the ranks, by the number of the block.
int drawn(int block) {
  constexpr unsigned kMixed = 2654435761U;
  return static_cast<int>((static_cast<unsigned>(block + 1) * kMixed >> 12U) % kWorld);
}

/// `is_slow(rank, block)`
Report report_of(const std::function<bool(int rank, int block)>& is_slow) {
  std::vector<std::unique_ptr<SometimesSlow>> owned;
  std::vector<Replayer*> ranks;
  for (int rank = 0; rank < kWorld; ++rank) {
    owned.push_back(std::make_unique<SometimesSlow>(
        1U + static_cast<unsigned>(rank), [=](int block) { return is_slow(rank, block); }));
    ranks.push_back(owned.back().get());
  }
  ServedRanks served(ranks);
  const auto replayer = served.attach();
  return bisect(*replayer, {.budget_seconds = 600, .sustain_seconds = 0});
}

}  // namespace

TEST_CASE("a rank that is always the slowest does not move") {
  const Report report = report_of([](int rank, int) { return rank == 2; });
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.ranks == RankRange{2, 1});
  REQUIRE(report.verdict.straggler.has_value());
  CHECK_FALSE(report.verdict.straggler->moves);
  CHECK(report.verdict.straggler->rank == 2);
  CHECK(report.verdict.straggler->rounds == report.verdict.straggler->of_rounds);
  CHECK(has(report.verdict.text, "It does not move: rank 2 is the slowest in "));
}

TEST_CASE("slowness that moves between ranks is said to move") {
  const Report report = report_of([](int rank, int block) { return rank == drawn(block); });
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK_FALSE(report.verdict.ranks.has_value());
  REQUIRE(report.verdict.straggler.has_value());
  CHECK(report.verdict.straggler->moves);
  CHECK(report.verdict.straggler->rounds < report.verdict.straggler->of_rounds);
  CHECK(has(report.verdict.text, "The slowest rank changes from round to round (rank "));
}

TEST_CASE("nothing is said of stragglers where all ranks are slow, or none") {
  for (const bool slow : {true, false}) {
    CAPTURE(slow);
    const Report report = report_of([=](int, int) { return slow; });
    CHECK_FALSE(report.verdict.straggler.has_value());
    CHECK_FALSE(has(report.verdict.text, "slowest"));
  }
}

TEST_CASE("a block tells which rank waited longest, and how long the next one did") {
  BlockResult one;
  one.seconds = 4;
  one.steps = 2;
  BlockResult other = one;
  one.starved_seconds = 1;
  other.starved_seconds = 3;
  const BlockResult whole = combine_blocks({one, other, one});
  REQUIRE(whole.slowest_rank.has_value());
  CHECK(whole.slowest_rank->rank == 1);
  CHECK(whole.slowest_rank->starved_seconds == 3);
  CHECK(whole.slowest_rank->next_starved_seconds == 1);
  CHECK_FALSE(combine_blocks({one}).slowest_rank.has_value());
}

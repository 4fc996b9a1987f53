#include "cachebisect/bisect/analysis/verdict_rules.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/bisect/analysis/verdict.hpp"

using namespace cachebisect;

namespace {

/// A chain of two stages, the second of which costs half of the throughput.
struct Judged {
  Measurements measured;
  VerdictState state;
  Waterfall waterfall;
  SustainedFigures sustained;
  Explanation explanation;
  std::optional<Forecast> forecast;

  Judged() {
    for (const char* const name : {"read", "decode"}) {
      measured.chain.stages.emplace_back().name = name;
      waterfall.stages.emplace_back().seconds_per_sample = 100e-6;
    }
    measured.chain.batch_size = 10;
    measured.settings.min_drop = 0.05;
    measured.verdict.table = RoundTable::of_boundaries(2);
    for (int k = 0; k <= 2; ++k) measured.verdict.table.add(k, block());
    measured.verdict.table.commit();
    waterfall.boundaries.resize(3);
    for (BoundaryReport& boundary : waterfall.boundaries) boundary.seconds_per_sample = 200e-6;
    state.decision = {VerdictKind::drop, true, false, 0};
    state.findings.parts.push_back({.part = {1, 2}, .drop = 0.5, .low = 0.4, .high = 0.6});
    state.findings.leader = 0;
  }
  static BlockResult block() {
    BlockResult block;
    block.seconds = 1;
    block.steps = 1;
    block.samples = 10;
    return block;
  }
  [[nodiscard]] JudgedRun run() const {
    return {measured, state, waterfall, sustained, explanation, forecast};
  }
  /// Live takes `seconds` per sample more than the other boundaries.
  void set_loss(double seconds) {
    measured.verdict.table = RoundTable::of_boundaries(2);
    for (int k = 0; k <= 2; ++k) {
      BlockResult result = block();
      if (k == 0) result.seconds += seconds * static_cast<double>(result.samples);
      measured.verdict.table.add(k, result);
    }
    measured.verdict.table.commit();
  }
  void costs_little() { measured.cache.floor_seconds_per_batch = 10e-3; }
  /// Live reaches the ceiling in one piece.
  void loses_nothing_in_one_piece() {
    sustained.live.emplace();
    sustained.live->change = SustainedChange::faster;
    sustained.live->samples_per_second = {100, Interval{99, 101}};
    sustained.loss = {0.0, Interval{-0.01, 0.01}};
  }
};

}  // namespace

TEST_CASE("the rules of a verdict have a fixed order") {
  std::vector<std::string> names;
  for (const VerdictRule& rule : verdict_rules()) names.emplace_back(rule.name);
  CHECK(names ==
        std::vector<std::string>{"blocks", "fidelity", "floor", "in_one_piece", "fix_first"});
}

TEST_CASE("what the blocks certify stands if no rule objects") {
  const Judged judged;
  const Judgement judgement = judge_by_rules(judged.run());
  CHECK(judgement.kind == VerdictKind::drop);
  CHECK(judgement.stage_name == "decode");
  CHECK(judgement.stage == 2);
  CHECK(judgement.withdrawn.empty());
  CHECK(make_verdict(judgement, judged.run()).drop.value == 0.5);
}

TEST_CASE("before the first round nothing is judged") {
  Judged judged;
  judged.measured.verdict.table = RoundTable::of_boundaries(2);
  CHECK(judge_by_rules(judged.run()).kind == VerdictKind::inconclusive);
}

TEST_CASE("a span's loss is that of the stage in it which remembers samples") {
  Judged judged;
  judged.state.findings.parts[0].part = {0, 2};
  judged.state.live_seconds = {10e-6, 90e-6};
  judged.state.distortions.push_back({.boundary = 1, .stage = 2, .share = 0.5, .certified = true});
  const Verdict verdict = make_verdict(judge_by_rules(judged.run()), judged.run());
  CHECK(verdict.stage == "decode");
  CHECK(verdict.stage_index == 2);
  CHECK_FALSE(verdict.span.empty());
  // Unseen blocks have not told whether the stage before it slows it down instead.
  judged.state.distortions[0].unseen_rounds = 6;
  CHECK(judge_by_rules(judged.run()).stage == 1);
  // With what it takes even then, the others cost at most 20 us of the span's 100.
  judged.state.distortions[0].replayed_seconds = 80e-6;
  judged.set_loss(100e-6);
  CHECK(judge_by_rules(judged.run()).stage == 2);
  judged.set_loss(60e-6);  // the training step hides the rest
  CHECK(judge_by_rules(judged.run()).stage == 1);
  judged.set_loss(140e-6);  // others wait, which is not in their own time on crowded cores
  CHECK(judge_by_rules(judged.run()).stage == 1);
  judged.set_loss(100e-6);
  judged.state.distortions[0].replayed_seconds = 20e-6;
  CHECK(judge_by_rules(judged.run()).stage == 1);
  judged.state.distortions[0].remembers = true;
  CHECK(judge_by_rules(judged.run()).stage == 2);
}

TEST_CASE("a verdict about the tool's own cost is withdrawn, whatever a long run says") {
  Judged judged;
  judged.costs_little();
  judged.loses_nothing_in_one_piece();
  judged.measured.verdict.certified_after_seconds = 1;
  const Judgement judgement = judge_by_rules(judged.run());
  CHECK(judgement.kind == VerdictKind::inconclusive);
  REQUIRE(judgement.warning.has_value());
  CHECK(judgement.withdrawn == judgement.warning->text);
  const Verdict verdict = make_verdict(judgement, judged.run());
  CHECK(verdict.stage.empty());
  CHECK_FALSE(verdict.needed.has_value());
  CHECK_FALSE(verdict.certified_after_seconds.has_value());
}

TEST_CASE("a drop that a long run does not have is flat, and nothing is to be fixed") {
  Judged judged;
  judged.loses_nothing_in_one_piece();
  judged.explanation.pays_most = 2;
  const Judgement judgement = judge_by_rules(judged.run());
  CHECK(judgement.kind == VerdictKind::flat);
  CHECK_FALSE(judgement.withdrawn.empty());
  CHECK(judgement.fix_first.empty());
  const Verdict verdict = make_verdict(judgement, judged.run());
  CHECK(verdict.drop.value == 0.0);
  CHECK(verdict.stage.empty());
}

TEST_CASE("what pays most is to be fixed first, which need not be what is named") {
  Judged judged;
  judged.explanation.pays_most = 1;
  judged.explanation.slow_ranks = RankRange{3, 1};
  const Judgement judgement = judge_by_rules(judged.run());
  CHECK(judgement.stage_name == "decode");
  CHECK(judgement.fix_first == "read");
  CHECK(judgement.ranks == RankRange{3, 1});
}

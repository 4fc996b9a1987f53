#include "cachebisect/bisect/phases/verdict_search.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/evidence/live_stalls.hpp"
#include "cachebisect/bisect/evidence/power.hpp"
#include "cachebisect/bisect/evidence/serving_cost.hpp"

namespace cachebisect {

ExtraArms::~ExtraArms() = default;

namespace {

constexpr double kMachineSeconds = 0.5;  ///< between two readings of the machine
/// A budget that grows holds as many rounds, and at most so many seconds.
constexpr double kRoundsInGrownBudget = 20;
constexpr double kMaxGrown = 600;
/// Live, the ceiling, and both ends of a stage.
constexpr double kArmsOfOneStage = 4;

/// A difference above the tolerance that these do not tell is small.
constexpr std::size_t kMaxUnseenRounds = 30;

/// Until when a tie may be resolved after the first certificate. Seconds.
double tie_deadline(double certified_after) { return 3 * certified_after + 2; }

/// Checks grow rarer as rounds add up, so that their cost stays in proportion.
bool time_to_check(std::size_t checked, std::size_t rounds) {
  constexpr std::size_t kShare = 25;
  return rounds - checked > rounds / kShare;
}

ReplayFidelity fidelity_of(const Measurements& measured) {
  return {measured.chain,
          {measured.settings.confidence, measured.usable_cpus(), measured.cache.item_bytes}};
}

VerdictState judge(const Measurements& measured, PartEvidence& evidence, ReplayFidelity& fidelity) {
  fidelity.update(measured.blocks);
  VerdictState state;
  state.distortions = fidelity.distortions();
  state.slowed = fidelity.slowed();
  state.live_seconds = fidelity.live_seconds();
  FindingsOptions options;
  options.min_drop = measured.settings.min_drop;
  options.workers = measured.chain.workers;
  options.confidence = measured.settings.confidence;
  options.serve_seconds = serving_cost(measured.chain, measured.cache, measured.verdict.table);
  std::vector<int> candidates = measured.verdict.candidates;
  bool likely = false;
  for (const Distortion& distortion : state.distortions) {
    likely = likely || !distortion.certified;
    if (!distortion.certified) continue;
    options.distorted.push_back(distortion.boundary);
    std::erase(candidates, distortion.boundary);
  }
  state.findings = assess(evidence, options);
  state.decision = decide(state.findings, candidates, measured.settings.min_drop);
  // A difference that is only likely is worth waiting for.
  if (likely && state.decision.kind != VerdictKind::flat) state.decision.settled = false;
  return state;
}

/// "crop: 41% (38 to 44%)": the part that seems to lose most.
std::string best_estimate(const ChainDescription& chain, const Findings& findings) {
  const auto largest = std::max_element(
      findings.parts.begin(), findings.parts.end(),
      [](const Finding& a, const Finding& b) { return a.median_drop < b.median_drop; });
  if (largest == findings.parts.end()) return {};
  std::string text = part_name(chain, largest->part) + ": " + percent(largest->median_drop);
  if (const auto interval = largest->interval()) text += " (" + percent_range(*interval) + ")";
  return text;
}

/// True if a round visited both ends of one of these stages (1-based).
bool any_measured(const RoundTable& rounds, const std::vector<int>& stages) {
  return std::any_of(stages.begin(), stages.end(),
                     [&](int stage) { return rounds.visited(stage - 1) && rounds.visited(stage); });
}

}  // namespace

VerdictState judge(const Measurements& measured) {
  PartEvidence evidence(measured.verdict.table, measured.settings.confidence,
                        measured.verdict.suspects);
  ReplayFidelity fidelity = fidelity_of(measured);
  return judge(measured, evidence, fidelity);
}

JoinedSpan joined_span(const Measurements& measured, const VerdictState& state, const Part& part) {
  const RoundTable& rounds = measured.verdict.table;
  const double loss = rounds.tau(part.from) - rounds.tau(part.to);
  return {part, loss * std::max(1, measured.chain.workers), state.live_seconds};
}

VerdictSearch::VerdictSearch(Replayer& replayer, RoundRunner& runner, RoundPlan& plan,
                             const BisectOptions& options, Measurements& measured)
    : replayer_(&replayer),
      runner_(&runner),
      plan_(&plan),
      options_(&options),
      measured_(&measured),
      arms_(replayer) {
  measured.verdict.table = RoundTable::of_boundaries(measured.stages());
  measured.verdict.candidates = plan.candidates();
}

void VerdictSearch::run(RandomStream& random, const std::function<void()>& after_check) {
  BlockRunner& blocks = runner_->blocks();
  blocks.set_phase(BlockPhase::pilot);
  Pilot pilot(blocks, *plan_, measured_->chain);
  pilot.ends();
  grow_budget(kArmsOfOneStage * plan_->block_seconds(0));
  explore(pilot);
  keep_enough_samples();
  const Power power{.alpha = 1 - options_->confidence, .weight = kMainShare};
  blocks.set_expected(blocks.elapsed() + power.min_rounds() * plan_->round_seconds());
  grow_budget(plan_->round_seconds());
  measure(random, pilot, after_check);
}

bool VerdictSearch::resume(RandomStream& random, const std::function<void()>& after_check) {
  if (!stalls_outweigh(*measured_, state_.findings, state_.decision)) return false;
  Pilot pilot(runner_->blocks(), *plan_, measured_->chain);
  measure(random, pilot, after_check);
  return true;
}

void VerdictSearch::measure(RandomStream& random, Pilot& pilot,
                            const std::function<void()>& after_check) {
  runner_->blocks().set_phase(BlockPhase::measure);
  std::size_t checked = rounds().rounds();
  while (super_round(random)) {
    if (!time_to_check(checked, rounds().rounds())) continue;
    checked = rounds().rounds();
    check_evidence();
    if (finished()) return;
    after_check();
    avoid_distorted();
    plan_->update(state_.findings, rounds());
    keep_enough_samples();
    explore(pilot);
  }
}

/// No block of an arm finds the samples of the one before it: what these cost would be in both.
void VerdictSearch::keep_enough_samples() {
  runner_->blocks().set_fresh_samples(
      std::max(measured_->cache.samples, plan_->samples_of_super_round()));
}

/// Fewer, if the caches do not hold as many samples as the blocks of an arm serve.
int VerdictSearch::most_repeats() const {
  const std::uint64_t most = measured_->cache.most_samples;
  const std::uint64_t wanted = plan_->samples_of_super_round();
  if (most == 0 || most >= wanted) return kUsualRepeats;
  return std::max(1, static_cast<int>(most / (wanted / kUsualRepeats)));
}

void VerdictSearch::grow_budget(double round_seconds) {
  if (!options_->budget_grows) return;
  BlockRunner& blocks = runner_->blocks();
  const double needed = blocks.elapsed() + kRoundsInGrownBudget * round_seconds;
  blocks.set_budget(std::clamp(needed, blocks.budget(), std::max(blocks.budget(), kMaxGrown)));
  plan_->set_budget(blocks.budget());
}

void VerdictSearch::conclude() {
  if (rounds().rounds() > 0) check_evidence();
  measured_->verdict.round_seconds = plan_->round_seconds();
  measured_->verdict.seconds = runner_->blocks().elapsed();
  measured_->verdict_reached = true;
}

void VerdictSearch::read_machine() {
  machine_.add(replayer_->read_machine());
  measured_->disturbance = machine_.seen();
  other_nodes_.add(replayer_->read_other_nodes());
  measured_->other_nodes = other_nodes_.seen();
}

/// Pilots what the plan asks for.
void VerdictSearch::explore(Pilot& pilot) {
  pilot.explore();
  plan_->choose();
  measured_->verdict.round_seconds = plan_->round_seconds();
  name_suspects();
}

/// A stage's share of the error must be fixed before there is evidence about the stage.
void VerdictSearch::name_suspects() {
  if (!measured_->verdict.suspects.empty()) return;
  const std::vector<int> suspects = plan_->suspects();
  if (suspects.empty() || any_measured(rounds(), suspects)) return;
  measured_->verdict.suspects = suspects;
  evidence_.reset();
}

/// As few steps as live has: its samples have to come through the stages before the boundary.
PlannedBlock VerdictSearch::unseen_block(int boundary) const {
  PlannedBlock block = plan_->block(boundary);
  block.arm.kind = ArmKind::unseen;
  block.steps = std::min(block.steps, plan_->steps(0));
  return block;
}

std::vector<int> VerdictSearch::open_controls() const {
  std::vector<int> open;
  if (state_.decision.kind == VerdictKind::flat) return open;
  for (const Distortion& distortion : state_.distortions) {
    const Arm unseen{.kind = ArmKind::unseen, .boundary = distortion.boundary};
    if (distortion.share > 0 && !distortion.remembers &&
        distortion.unseen_rounds < kMaxUnseenRounds && replayer_->supports(unseen)) {
      open.push_back(distortion.boundary);
    }
  }
  return open;
}

bool VerdictSearch::controls_decide() const {
  const std::vector<int> open = open_controls();
  if (state_.decision.kind != VerdictKind::drop || !state_.decision.part) return !open.empty();
  const Part& leader = state_.findings.parts[*state_.decision.part].part;
  if (std::ranges::none_of(open, [&](int k) { return k > leader.from && k < leader.to; })) {
    return false;
  }
  // Those that no round has asked yet count as undecided too.
  std::vector<Distortion> distortions = state_.distortions;
  for (Distortion& distortion : distortions) ++distortion.unseen_rounds;
  return !dominant_stage(joined_span(*measured_, state_, leader), distortions);
}

void VerdictSearch::avoid_distorted() {
  const std::vector<int> open = open_controls();
  plan_->doubt(open);
  for (const Distortion& distortion : state_.distortions) {
    const bool undecided = std::ranges::find(open, distortion.boundary) != open.end();
    if (distortion.certified && !undecided) plan_->avoid(distortion.boundary);
  }
}

/// False when the budget has ended.
bool VerdictSearch::super_round(RandomStream& random) {
  BlockRunner& blocks = runner_->blocks();
  const std::size_t done = rounds().rounds();
  if (blocks.left() <= 0) return false;
  plan_->follow_quota(blocks.quota_period());
  const int repeats = repeats_within(blocks.left(), plan_->round_seconds(), most_repeats());
  if (done > 0 && repeats == 0) return false;
  PlannedRound round{.number = static_cast<int>(done),
                     .blocks = {},
                     .repeats = std::max(1, repeats),
                     .until = blocks.budget(),
                     .null_counts_for_mean = plan_->live_twice()};
  for (const Arm& arm : arms_.draw(plan_->boundaries(), plan_->live_twice(), random)) {
    round.blocks.push_back(plan_->block(arm.boundary));
    round.blocks.back().arm = arm;
  }
  for (const int boundary : open_controls()) round.blocks.push_back(unseen_block(boundary));
  if (!run_with_extra_arms(round)) return false;
  const double now = replayer_->clock();
  // Between blocks, and rarely enough to cost nothing.
  if (!machine_read_at_ || now - *machine_read_at_ >= kMachineSeconds) {
    machine_read_at_ = now;
    read_machine();
  }
  return true;
}

bool VerdictSearch::run_with_extra_arms(const PlannedRound& round) {
  if (extra_ == nullptr || rounds().rounds() == 0) return runner_->run(round, rounds());
  std::exception_ptr failure;
  try {
    PlannedRound extended = round;
    const std::vector<PlannedBlock> blocks = extra_->next(state_, rounds());
    extended.blocks.insert(extended.blocks.end(), blocks.begin(), blocks.end());
    if (!blocks.empty()) extended.also = &extra_->table();
    return runner_->run(extended, rounds());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::internal) throw;
    failure = std::current_exception();
  }
  // An arm that only explains must not cost the verdict. If the others fail as well, it is not to
  // blame.
  extra_->table().discard();
  extra_ = nullptr;
  try {
    PlannedRound again = round;
    again.number = static_cast<int>(rounds().rounds());
    return runner_->run(again, rounds());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
  }
  std::rethrow_exception(failure);
}

void VerdictSearch::check_evidence() {
  if (!evidence_) {
    evidence_.emplace(rounds(), measured_->settings.confidence, measured_->verdict.suspects);
  }
  if (!fidelity_) fidelity_.emplace(fidelity_of(*measured_));
  state_ = judge(*measured_, *evidence_, *fidelity_);
  std::optional<double>& certified_after = measured_->verdict.certified_after_seconds;
  const bool certified =
      state_.decision.certified() && !stalls_outweigh(*measured_, state_.findings, state_.decision);
  if (!certified) certified_after.reset();
  if (certified && !certified_after) certified_after = runner_->blocks().elapsed();
  runner_->blocks().set_best(best_estimate(measured_->chain, state_.findings));
}

bool VerdictSearch::finished() const {
  const std::optional<double>& certified_after = measured_->verdict.certified_after_seconds;
  if (!certified_after) return false;
  const double deadline = tie_deadline(*certified_after);
  if (controls_decide()) return false;
  return state_.decision.settled || runner_->blocks().elapsed() >= deadline ||
         (state_.decision.only_tied && !tie_may_end(deadline));
}

bool VerdictSearch::tie_may_end(double deadline) const {
  const BlockRunner& blocks = runner_->blocks();
  const auto done = static_cast<double>(measured_->verdict.table.rounds());
  const double left = done * (std::min(deadline, blocks.budget()) / blocks.elapsed() - 1);
  const Findings& findings = state_.findings;
  return std::ranges::any_of(findings.rivals, [&](std::size_t i) {
    const Finding& rival = findings.parts[i];
    if (rival.rounds == 0) return true;
    const Power power{.sigma = kSigmaOverMedianDeviation * rival.scale,
                      .alpha = 1 - measured_->settings.confidence,
                      .weight = 1};
    // The leader's lower bound and the rival's upper one each have to come half of the way.
    const double most = (rival.distance + rival.error()) / 2;
    return rival.missing <= left * power.growth(most) && power.rounds_for(most) <= done + left;
  });
}

}  // namespace cachebisect

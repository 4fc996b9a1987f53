#include "cachebisect/bisect/analysis/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/analysis/straggler.hpp"
#include "cachebisect/bisect/evidence/power.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// The question that a verdict waits for: whether a part costs more than the leader; else the whole
/// loss while it is not above min_drop, then the largest part. What stalls lose is in the means
/// alone.
const Finding& open_question(const Findings& findings, double min_drop) {
  if (findings.challenger) return findings.parts[*findings.challenger];
  const auto largest = [&](double Finding::*drop) -> const Finding& {
    return *std::max_element(findings.parts.begin(), findings.parts.end(),
                             [&](const Finding& a, const Finding& b) { return a.*drop < b.*drop; });
  };
  if (findings.whole.median_drop > min_drop) return largest(&Finding::median_drop);
  return findings.whole.drop > min_drop ? largest(&Finding::drop) : findings.whole;
}

/// Rounds after which the evidence reaches its threshold if it keeps growing at the same rate;
/// twice as many as now if it has not grown. 0 if there are too few rounds to tell.
int rounds_at_this_pace(const ConfidenceSequence& evidence, double bar) {
  if (evidence.rounds() < kRoundsToSpread) return 0;
  const auto rounds = static_cast<double>(evidence.rounds());
  const double grown = std::max(evidence.evidence_above(bar), evidence.evidence_below(bar));
  if (grown < std::exp(1.0)) return static_cast<int>(2 * rounds);
  const double needed = rounds * std::log(evidence.threshold()) / std::log(grown);
  return static_cast<int>(std::min(std::ceil(needed), kMostRounds));
}

/// The same for a part that loses its time in stalls, by the evidence of its mean; 0 for others.
int rounds_for_stalls(const Finding& part, int rounds) {
  if (part.rounds_to_certify_stalls <= 0) return 0;
  const double more = part.rounds_to_certify_stalls - static_cast<double>(part.rounds);
  return static_cast<int>(std::min(std::ceil(rounds + more), kMostRounds));
}

/// What the budget could have certified, and what an inconclusive verdict needs.
void add_needed(Verdict& verdict, const Measurements& measured, const Findings& findings) {
  const BisectSettings& settings = measured.settings;
  const double round = std::max(1e-6, measured.verdict.round_seconds);
  const double share = verdict_share(measured.questions);
  const double bar = drop_to_theta(settings.min_drop);
  Power power{.sigma = 0.01, .alpha = 1 - settings.confidence, .weight = kMainShare};
  double distance = drop_to_theta(0.2) - bar;
  int at_this_pace = 0;
  int by_stalls = 0;
  if (verdict.rounds > 0) {
    const Finding& open = open_question(findings, settings.min_drop);
    power.sigma = kSigmaOverMedianDeviation * std::max(findings.whole.scale, open.scale);
    distance = std::abs(bounded_theta(open.median_drop) - bar);
    PartEvidence evidence(measured.verdict.table, settings.confidence, measured.verdict.suspects);
    at_this_pace = rounds_at_this_pace(evidence.pair(open.part), bar);
    by_stalls = rounds_for_stalls(open, verdict.rounds);
  }
  if (const auto reach = power.distance_in(share * settings.budget_seconds / round)) {
    verdict.detectable_drop = theta_to_drop(bar + *reach);
  }
  if (verdict.kind != VerdictKind::inconclusive) return;
  const int more =
      std::max({power.rounds_for(distance), at_this_pace, by_stalls, verdict.rounds + 1});
  const double seconds =
      measured.verdict.seconds + round * static_cast<double>(more - verdict.rounds);
  verdict.needed = Needed{more, seconds / share};
}

/// What the blocks' verdict names, and what it costs.
void name_parts(Verdict& verdict, const Judgement& judgement, const JudgedRun& run) {
  const Findings& findings = run.state.findings;
  const ChainDescription& chain = run.measured.chain;
  const auto name = [&](std::size_t part) { return part_name(chain, findings.parts[part].part); };
  if (judgement.part) {
    const Finding& finding = findings.parts[*judgement.part];
    verdict.stage = judgement.stage_name;
    verdict.stage_index = judgement.stage;
    verdict.span = span_name(finding.part);
    verdict.drop = {finding.drop, finding.interval()};
  }
  switch (verdict.kind) {
    case VerdictKind::anomaly:
      break;
    case VerdictKind::drop:
      for (const std::size_t rival : findings.rivals) verdict.tied_with.push_back(name(rival));
      break;
    case VerdictKind::spread:
      for (const std::size_t part : half_of_loss(findings)) verdict.shares.push_back(name(part));
      [[fallthrough]];
    case VerdictKind::flat:
      verdict.drop = {findings.whole.drop, findings.whole.interval()};
      break;
    case VerdictKind::inconclusive:
      if (!findings.challenger) break;
      verdict.tied_with = {name(*findings.challenger), name(*findings.leader)};
  }
}

}  // namespace

Verdict make_verdict(const Judgement& judgement, const JudgedRun& run) {
  const Measurements& measured = run.measured;
  Verdict verdict;
  verdict.kind = judgement.kind;
  verdict.rounds = static_cast<int>(measured.verdict.table.rounds());
  verdict.drop = judgement.loss;
  verdict.ranks = judgement.ranks;
  verdict.straggler = find_straggler(measured);
  verdict.fix_first = judgement.fix_first;
  add_needed(verdict, measured, run.state.findings);
  if (judgement.final) {
    verdict.needed.reset();
    return verdict;
  }
  verdict.certified_after_seconds = measured.verdict.certified_after_seconds;
  if (verdict.rounds > 0) name_parts(verdict, judgement, run);
  return verdict;
}

}  // namespace cachebisect

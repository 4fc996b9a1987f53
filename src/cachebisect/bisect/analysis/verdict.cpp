#include "cachebisect/bisect/analysis/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/costs/predicted_fix_first.hpp"
#include "cachebisect/bisect/evidence/power.hpp"

namespace cachebisect {
namespace {

/// Of a span's live time: what one stage must take for the span's loss to be its own.
constexpr double kMostOfSpan = 0.7;
/// More rounds than these are not worth asking for exactly.
constexpr double kMaxRounds = 1e6;

/// The question that a verdict waits for: whether a part costs more than the leader; else the whole
/// loss while it is not above min_drop, then the largest part.
const Finding& open_question(const Findings& findings, double min_drop) {
  if (findings.challenger) return findings.parts[*findings.challenger];
  if (findings.whole.median_drop <= min_drop) return findings.whole;
  return *std::max_element(
      findings.parts.begin(), findings.parts.end(),
      [](const Finding& a, const Finding& b) { return a.median_drop < b.median_drop; });
}

/// Rounds after which the evidence reaches its threshold if it keeps growing at the same rate;
/// twice as many as now if it has not grown. 0 if there are too few rounds to tell.
int rounds_at_this_pace(const ConfidenceSequence& evidence, double bar) {
  constexpr std::size_t kMinRounds = 12;
  if (evidence.rounds() < kMinRounds) return 0;
  const auto rounds = static_cast<double>(evidence.rounds());
  const double grown = std::max(evidence.evidence_above(bar), evidence.evidence_below(bar));
  if (grown < std::exp(1.0)) return static_cast<int>(2 * rounds);
  const double needed = rounds * std::log(evidence.threshold()) / std::log(grown);
  return static_cast<int>(std::min(std::ceil(needed), kMaxRounds));
}

/// What the budget could have certified, and what an inconclusive verdict needs.
void add_needed(Verdict& verdict, const Measurements& measured, const Findings& findings) {
  const BisectSettings& settings = measured.settings;
  const double round = std::max(1e-6, measured.verdict.round_seconds);
  const double bar = drop_to_theta(settings.min_drop);
  Power power{.sigma = 0.01, .alpha = 1 - settings.confidence, .weight = kSuspectWeight};
  double distance = drop_to_theta(0.2) - bar;
  int at_this_pace = 0;
  int by_stalls = 0;
  if (verdict.rounds > 0) {
    const Finding& open = open_question(findings, settings.min_drop);
    power.sigma = kSigmaOverMedianDeviation * std::max(findings.whole.scale, open.scale);
    distance = std::abs(bounded_theta(open.median_drop) - bar);
    PartEvidence evidence(measured.verdict.table, settings.confidence, measured.verdict.suspects);
    at_this_pace = rounds_at_this_pace(evidence.pair(open.part), bar);
    if (open.bursty || open.by_mean) {
      by_stalls = static_cast<int>(std::min(open.rounds_to_certify_stalls, kMaxRounds));
    }
  }
  if (const auto reach = power.distance_in(settings.budget_seconds / round)) {
    verdict.detectable_drop = theta_to_drop(bar + *reach);
  }
  if (verdict.kind != VerdictKind::inconclusive) return;
  const int more =
      std::max({power.rounds_for(distance), at_this_pace, by_stalls, verdict.rounds + 1});
  verdict.needed =
      Needed{more, measured.measure_seconds + round * static_cast<double>(more - verdict.rounds)};
}

/// The stage that the time of a span belongs to although replay cannot take the span apart: it
/// remembers samples, and live it takes most of the span's time.
std::optional<int> stage_behind(const VerdictState& state, const Part& span) {
  double whole = 0;
  for (int s = span.from; s < span.to; ++s) {
    if (static_cast<std::size_t>(s) < state.live_seconds.size()) {
      whole += state.live_seconds[static_cast<std::size_t>(s)];
    }
  }
  for (const Distortion& distortion : state.distortions) {
    const bool inside = distortion.boundary > span.from && distortion.stage <= span.to;
    const double live = state.live_seconds.at(static_cast<std::size_t>(distortion.stage) - 1);
    const bool remembers = distortion.certified && distortion.share > 0;
    if (inside && remembers && live > kMostOfSpan * whole) return distortion.stage;
  }
  return std::nullopt;
}

void name_parts(Verdict& verdict, const ChainDescription& chain, const VerdictState& state) {
  const Findings& findings = state.findings;
  const Decision& decision = state.decision;
  const bool names = verdict.kind == VerdictKind::drop || verdict.kind == VerdictKind::anomaly;
  if (names && decision.part) {
    const Finding& finding = findings.parts[*decision.part];
    verdict.stage = part_name(chain, finding.part);
    verdict.stage_index = finding.part.from + 1;
    verdict.span = span_name(finding.part);
    if (const auto stage = stage_behind(state, finding.part)) {
      verdict.stage = chain.stages.at(static_cast<std::size_t>(*stage) - 1).name;
      verdict.stage_index = *stage;
    }
    verdict.drop = {finding.drop, finding.interval()};
  }
  if (verdict.kind == VerdictKind::inconclusive && findings.challenger) {
    for (const std::size_t part : {*findings.challenger, *findings.leader}) {
      verdict.tied_with.push_back(part_name(chain, findings.parts[part].part));
    }
  }
  if (verdict.kind == VerdictKind::drop) {
    for (const std::size_t rival : findings.rivals) {
      verdict.tied_with.push_back(part_name(chain, findings.parts[rival].part));
    }
  }
  if (verdict.kind == VerdictKind::spread) {
    for (const std::size_t part : half_of_loss(findings)) {
      verdict.shares.push_back(part_name(chain, findings.parts[part].part));
    }
  }
  if (verdict.kind == VerdictKind::spread || verdict.kind == VerdictKind::flat) {
    verdict.drop = {findings.whole.drop, findings.whole.interval()};
  }
}

}  // namespace

Verdict make_verdict(const Measurements& measured, const VerdictState& state,
                     const Explanation& explanation, const std::optional<Forecast>& forecast,
                     bool refused) {
  Verdict verdict;
  verdict.rounds = static_cast<int>(measured.verdict.table.rounds());
  if (verdict.rounds > 0 && !refused) verdict.kind = state.decision.kind;
  if (!refused) verdict.certified_after_seconds = measured.verdict.certified_after_seconds;
  if (verdict.rounds > 0 && !refused) name_parts(verdict, measured.chain, state);
  add_needed(verdict, measured, state.findings);
  if (refused) {
    // More rounds would not help.
    verdict.needed.reset();
    return verdict;
  }
  if (verdict.kind == VerdictKind::drop) {
    verdict.fix_first = fix_first_by_model(measured.chain, forecast, verdict.stage);
  }
  const bool gives = verdict.kind == VerdictKind::drop || verdict.kind == VerdictKind::spread;
  if (gives) verdict.rank = explanation.slow_rank;
  if (gives && explanation.pays_most > 0) {
    verdict.fix_first =
        measured.chain.stages.at(static_cast<std::size_t>(explanation.pays_most) - 1).name;
  }
  return verdict;
}

}  // namespace cachebisect

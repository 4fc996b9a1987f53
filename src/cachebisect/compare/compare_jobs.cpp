#include "cachebisect/compare/compare_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"
#include "cachebisect/compare/findings.hpp"
#include "cachebisect/compare/gate.hpp"
#include "cachebisect/compare/job_pair.hpp"
#include "cachebisect/compare/mismatches.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/compare/paired_stages.hpp"

namespace cachebisect {
namespace {

/// Half width of the interval of a change that need not be narrower: as log rate, or as a share of
/// the change.
constexpr double kNarrow = 0.005;
constexpr double kNarrowShare = 0.1;
/// Standard errors by which the means of all blocks must differ from the pairs to be mentioned.
constexpr double kCertainlyStalls = 4;

ComparedJob job_of(const JobSource& source, const ChainDescription& chain) {
  return {.source = source.name,
          .pipeline = chain.name,
          .device = chain.device_name,
          .batch_size = chain.batch_size,
          .workers = chain.workers,
          .started = {},
          .verdict = {}};
}

/// Samples/s of the median block: as the change is that of the median pair.
Estimate median_rate(const RoundTable& rounds, int arm, double confidence) {
  const std::vector<double> taus = rounds.block_taus(arm);
  Estimate rate{1 / median(taus), std::nullopt};
  if (const auto tau = median_interval(taus, confidence)) {
    rate.interval = Interval{1 / tau->high, 1 / tau->low};
  }
  return rate;
}

ComparedFigure live_figure(const RoundTable& rounds, double confidence) {
  ComparedFigure live{"live", "", FigureUnit::samples_per_second, {}, {}, {}};
  if (rounds.rounds() == 0) return live;
  live.a = median_rate(rounds, 0, confidence);
  live.b = median_rate(rounds, 1, confidence);
  live.change = change_of(paired_rate_ratio(rounds, confidence));
  return live;
}

ComparedFigure changed_by(const LogRatio& ratio) {
  ComparedFigure live{"live", "", FigureUnit::samples_per_second, {}, {}, change_of(ratio)};
  return live;
}

/// Gates may be decided long before the change is known to a per cent.
PairedRule rule_for(const std::vector<Gate>& gates) {
  if (gates.empty()) {
    return [](const LogRatio& ratio) {
      return is_narrow(ratio, std::max(kNarrow, kNarrowShare * std::abs(ratio.value)));
    };
  }
  return [&gates](const LogRatio& ratio) {
    return std::ranges::all_of(gates, [&](const Gate& gate) {
      return judge_gate(gate, {changed_by(ratio)}, {}).outcome != GateOutcome::undecided;
    });
  };
}

/// Pairs show the usual block; rare stalls that hit one of the two jobs show in its mean alone.
void note_stalls(const RoundTable& rounds, const ComparedFigure& live,
                 std::vector<std::string>& notes) {
  if (rounds.rounds() < 10 || !live.change.interval) return;
  const double log_slowdown = -std::log1p(*live.change.value);
  const double excess = excess_of_mean(rounds, 1, 0, log_slowdown);
  if (std::abs(excess) < kCertainlyStalls) return;
  const double mean_change = rounds.tau(0) / rounds.tau(1) - 1;
  notes.push_back("the mean of all blocks differs by " + percent(std::abs(mean_change)) +
                  (mean_change < 0 ? " less" : " more") +
                  " throughput: one of the two loses time in rare stalls");
}

}  // namespace

Comparison compare(const JobSource& a, const JobSource& b, const CompareJobsOptions& options) {
  std::vector<Gate> gates;
  for (const std::string& text : options.gates) gates.push_back(parse_gate(text));
  for (const Gate& gate : gates) (void)judge_gate(gate, {changed_by({})}, {});
  const ChainDescription chain_a = a.replayer->describe();
  const ChainDescription chain_b = b.replayer->describe();
  Comparison comparison;
  comparison.a = job_of(a, chain_a);
  comparison.b = job_of(b, chain_b);
  comparison.paired = true;
  comparison.confidence = options.confidence;
  comparison.mismatches = mismatches(chain_a, chain_b);
  refuse_unless_comparable(comparison.mismatches, options.force);
  JobPair pair(*a.replayer, *b.replayer);
  const PairedRounds rounds = measure_pairs(pair, {Arm{}, chain_a}, {JobPair::other_job(), chain_b},
                                            {.budget_seconds = options.budget_seconds,
                                             .confidence = options.confidence,
                                             .seed = options.seed,
                                             .enough = rule_for(gates),
                                             .progress = options.progress,
                                             .stop = options.stop});
  comparison.rounds = static_cast<int>(rounds.table.rounds());
  comparison.seconds = rounds.seconds;
  comparison.figures = {live_figure(rounds.table, options.confidence)};
  const StageMatches matches(identities_of(chain_a.stages), identities_of(chain_b.stages));
  std::ranges::move(paired_stages(rounds, chain_a, matches, options.confidence),
                    std::back_inserter(comparison.figures));
  comparison.notes = matches.notes_of_renamed();
  if (rounds.interrupted) comparison.notes.emplace_back("the run was interrupted");
  note_stalls(rounds.table, comparison.figures.front(), comparison.notes);
  comparison.findings = describe_changes(comparison);
  for (const Gate& gate : gates) {
    comparison.gates.push_back(judge_gate(gate, comparison.figures, {}));
  }
  return comparison;
}

}  // namespace cachebisect

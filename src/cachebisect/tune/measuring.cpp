#include "cachebisect/tune/measuring.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/tune/candidates.hpp"
#include "cachebisect/tune/climb.hpp"

namespace cachebisect::tune {
namespace {

/// Half width of an interval that need not be narrower, as log throughput: of a gain that is
/// certain, and of one that is not.
constexpr double kNarrow = 0.02;
constexpr double kVeryNarrow = 0.003;

/// Known well enough to keep the change or to leave it.
bool is_decided(const LogRatio& gain) {
  if (!gain.interval) return false;
  const double least = std::log1p(kLeastGain);
  if (gain.interval->high < least || is_narrow(gain, kVeryNarrow)) return true;
  return gain.interval->low > least && is_narrow(gain, std::max(kNarrow, gain.value / 4));
}

BisectOptions diagnosis(const Options& options, double budget_seconds,
                        const ChainDescription& chain) {
  BisectOptions asked;
  asked.budget_seconds = budget_seconds;
  asked.confidence = options.confidence;
  asked.seed = options.seed;
  asked.explain = false;
  asked.what_ifs = questions(chain, chain.usable_cpus.value_or(probe_machine().usable_cpus));
  asked.progress = options.progress;
  asked.stop = options.stop;
  return asked;
}

}  // namespace

Report diagnosed(Replayer& replayer, const Options& options, double budget_seconds) {
  Report report = bisect(replayer, diagnosis(options, budget_seconds, replayer.describe()));
  if (report.interrupted) throw Error(ErrorKind::interrupted, "stopped");
  return report;
}

Comparison compared(Replayer& replayer, const PairedArm& now, const PairedArm& other,
                    const Options& options, double budget_seconds) {
  const PairedRounds rounds = measure_pairs(replayer, now, other,
                                            {.budget_seconds = budget_seconds,
                                             .confidence = options.confidence,
                                             .seed = options.seed,
                                             .enough = is_decided,
                                             .progress = options.progress,
                                             .stop = options.stop});
  if (rounds.interrupted) throw Error(ErrorKind::interrupted, "stopped");
  if (rounds.table.rounds() == 0) {
    throw Error(ErrorKind::data, "the budget ended before it was compared");
  }
  return {paired_rate_ratio(rounds.table, options.confidence), rounds.seconds};
}

}  // namespace cachebisect::tune

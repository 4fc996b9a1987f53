#include "cachebisect/bisect/evidence/sustained.hpp"

#include <algorithm>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Seconds per sample: of the typical piece, and of the mean, which stalls move.
struct Level {
  Interval typical;
  Interval mean;
};

/// A short run may have met fewer of the costly samples than its share: then the means do not
/// differ.
bool is_slower(const Level& a, const Level& b) {
  return a.typical.low > b.typical.high * (1 + kNegligible) &&
         a.mean.low > b.mean.high * (1 + kNegligible);
}

SustainedChange change(const Level& run, const Level& blocks) {
  if (is_slower(run, blocks)) return SustainedChange::slower;
  return is_slower(blocks, run) ? SustainedChange::faster : SustainedChange::none;
}

}  // namespace

std::optional<SustainedFigure> sustained_figure(const BlockResult& run,
                                                std::span<const double> block_taus,
                                                double confidence) {
  const std::span<const double> taus = run.group_taus;
  const auto half = taus.subspan(taus.size() / 2);
  const auto of_run = median_interval(half, confidence);
  const auto of_blocks = typical_interval(block_taus, confidence);
  const auto mean_of_run = mean_interval(half, confidence);
  const auto mean_of_blocks = mean_interval(block_taus, confidence);
  if (!of_run || !of_blocks || !mean_of_run || !mean_of_blocks) return std::nullopt;
  SustainedFigure figure;
  const double tau = mean(half);
  figure.samples_per_second.value = 1 / tau;
  figure.samples_per_second.interval =
      Interval{1 / std::max(tau, of_run->high), 1 / std::min(tau, of_run->low)};
  figure.slowest_tau = *std::max_element(half.begin(), half.end());
  figure.seconds = run.seconds;
  figure.change = change({*of_run, *mean_of_run}, {*of_blocks, *mean_of_blocks});
  return figure;
}

}  // namespace cachebisect

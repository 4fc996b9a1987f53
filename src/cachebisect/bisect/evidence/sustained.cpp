#include "cachebisect/bisect/evidence/sustained.hpp"

#include <algorithm>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Seconds per sample: the mean, which stalls move, and the interval of the typical one.
struct Level {
  double mean = 0;
  Interval typical;
};

bool is_slower(const Level& a, const Level& b) {
  return a.typical.low > b.typical.high * (1 + kNegligible) && a.mean > b.mean * (1 + kNegligible);
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
  if (!of_run || !of_blocks) return std::nullopt;
  SustainedFigure figure;
  const double tau = mean(half);
  figure.samples_per_second.value = 1 / tau;
  figure.samples_per_second.interval =
      Interval{1 / std::max(tau, of_run->high), 1 / std::min(tau, of_run->low)};
  figure.slowest_tau = *std::max_element(half.begin(), half.end());
  figure.seconds = run.seconds;
  figure.change = change({tau, *of_run}, {mean(block_taus), *of_blocks});
  return figure;
}

}  // namespace cachebisect

#include "cachebisect/bisect/evidence/sustained.hpp"

#include <algorithm>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMinGroups = 16;
constexpr double kWorthSaying = 0.02;

SustainedChange change(const Interval& run, const Interval& blocks) {
  if (run.low > blocks.high * (1 + kWorthSaying)) return SustainedChange::slower;
  if (run.high * (1 + kWorthSaying) < blocks.low) return SustainedChange::faster;
  return SustainedChange::none;
}

}  // namespace

std::optional<SustainedFigure> sustained_figure(const BlockResult& run,
                                                std::span<const double> block_taus,
                                                double confidence) {
  const std::span<const double> taus = run.group_taus;
  if (taus.size() < kMinGroups) return std::nullopt;
  const auto half = taus.subspan(taus.size() / 2);
  const auto of_run = median_interval(half, confidence);
  const auto of_blocks = median_interval(block_taus, confidence);
  if (!of_run || !of_blocks) return std::nullopt;
  SustainedFigure figure;
  const double tau = mean(half);
  figure.samples_per_second.value = 1 / tau;
  figure.samples_per_second.interval =
      Interval{1 / std::max(tau, of_run->high), 1 / std::min(tau, of_run->low)};
  figure.seconds = run.seconds;
  figure.change = change(*of_run, *of_blocks);
  return figure;
}

}  // namespace cachebisect

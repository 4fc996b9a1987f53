#include "cachebisect/bisect/costs/round_ratios.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {
namespace {

/// Seconds per sample of one round: live, and at a boundary.
struct Pair {
  double live;
  double other;
};

/// The ratio of all seconds, and its standard error (delta method).
struct MeanRatio {
  double value;
  double error;
};

MeanRatio mean_ratio(const std::vector<Pair>& pairs) {
  double live = 0;
  double other = 0;
  for (const Pair& pair : pairs) {
    live += pair.live;
    other += pair.other;
  }
  const double ratio = other / live;
  double squares = 0;
  for (const Pair& pair : pairs) squares += std::pow(pair.other - ratio * pair.live, 2);
  return {ratio, std::sqrt(squares) / live};
}

std::vector<double> log_ratios(const std::vector<Pair>& pairs) {
  std::vector<double> logs;
  logs.reserve(pairs.size());
  for (const Pair& pair : pairs) logs.push_back(std::log(pair.other / pair.live));
  return logs;
}

/// The standard error of the centre, from the median deviation, so that a few wild rounds do not
/// count.
double standard_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  return kSigmaOverMedianDeviation * median_deviation(values) / std::sqrt(count);
}

/// The centre of the rounds, because noise from outside is symmetric about it; the ratio of means
/// if that certainly differs, so that stalls of one of the two are included.
double typical_ratio(const std::vector<Pair>& pairs) {
  const double typical = std::exp(hodges_lehmann(log_ratios(pairs)));
  const MeanRatio mean = mean_ratio(pairs);
  return std::abs(mean.value - typical) > kCertain * mean.error ? mean.value : typical;
}

}  // namespace

RoundRatios::RoundRatios(const Measurements& measured) {
  const RoundTable& rounds = measured.verdict.table;
  for (int k = 0; k <= rounds.last(); ++k) {
    means_.push_back(rounds.visited(k) ? std::optional(rounds.tau(k)) : std::nullopt);
  }
  for (const BlockRecord& record : measured.blocks) {
    if (record.shows_replay()) {
      rounds_[record.round][record.arm.boundary] = record.seconds_per_sample();
    }
  }
  ratios_.resize(means_.size());
  fill_ratios();
}

void RoundRatios::fill_ratios() {
  std::vector<std::vector<Pair>> pairs(means_.size());
  for (const auto& [number, round] : rounds_) {
    const auto live = round.find(0);
    if (live == round.end()) continue;
    for (const auto& [boundary, seconds] : round) {
      pairs.at(static_cast<std::size_t>(boundary)).push_back({live->second, seconds});
    }
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    errors_.push_back(1);
    if (pairs[k].size() < kUsualRepeats) continue;
    ratios_[k] = typical_ratio(pairs[k]);
    errors_.back() = standard_error(log_ratios(pairs[k]));
  }
}

PacedTaus RoundRatios::at_pace(double pace, const Round& round) const {
  PacedTaus result{.seconds = {}, .stretch = {}, .errors = errors_};
  for (std::size_t k = 0; k < means_.size(); ++k) {
    const auto here = round.find(static_cast<int>(k));
    std::optional<double>& seconds = result.seconds.emplace_back();
    if (here != round.end()) {
      seconds = here->second;
    } else if (ratios_[k]) {
      seconds = pace * *ratios_[k];
    } else if (means_[k]) {
      seconds = *means_[k] * pace / means_.front().value_or(pace);
    }
    result.stretch.push_back(seconds && means_[k] && *means_[k] > 0 ? *seconds / *means_[k] : 1);
  }
  return result;
}

PacedTaus RoundRatios::at_mean_pace() const {
  if (means_.empty()) return {};
  return at_pace(means_.front().value_or(1), {});
}

PacedTaus RoundRatios::at_pace_of(const BlockRecord& live) const {
  const auto round = rounds_.find(live.round);
  return at_pace(live.seconds_per_sample(), round == rounds_.end() ? Round{} : round->second);
}

}  // namespace cachebisect

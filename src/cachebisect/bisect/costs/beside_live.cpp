#include "cachebisect/bisect/costs/beside_live.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

constexpr std::size_t kLeastRounds = 3;
constexpr double kCertain = 4;  ///< standard errors
/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double kSigmaOverMad = 1.4826;
/// Pairs of so many values are looked at; more of them tell hardly more.
constexpr std::size_t kMostPaired = 256;

double seconds_per_sample(const BlockResult& block) {
  return block.seconds / static_cast<double>(block.samples);
}

bool counts(const BlockRecord& record) {
  return record.arm.kind == ArmKind::replay && record.round >= 0 && record.arm.cache_samples == 0 &&
         !record.result.is_void && record.result.samples > 0 && record.result.seconds > 0;
}

/// The median of the means of all pairs (Hodges and Lehmann 1963): as robust as it must be here,
/// and nearer to the centre than the median of the values.
double centre(const std::vector<double>& values) {
  const std::size_t stride = (values.size() + kMostPaired - 1) / kMostPaired;
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    for (std::size_t j = i; j < values.size(); j += stride) {
      means.push_back(0.5 * (values[i] + values[j]));
    }
  }
  return median(means);
}

/// Seconds a sample of a round: live, and of a boundary.
struct Pair {
  double live;
  double other;
};

/// Of all seconds, and how far chance alone takes it from the true one (delta method).
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

/// Of their centre, from the median absolute deviation, so that few wild rounds do not count.
double standard_error(std::vector<double> values) {
  const auto count = static_cast<double>(values.size());
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return kSigmaOverMad * median(values) / std::sqrt(count);
}

/// Rounds' centre, as noise from outside is symmetric there; the means where those are certainly
/// something else, so that stalls of one of the two are in it.
double typical_ratio(const std::vector<Pair>& pairs) {
  const double typical = std::exp(centre(log_ratios(pairs)));
  const MeanRatio mean = mean_ratio(pairs);
  return std::abs(mean.value - typical) > kCertain * mean.error ? mean.value : typical;
}

}  // namespace

RoundRatios::RoundRatios(const Report& report) {
  for (const BoundaryReport& boundary : report.boundaries) {
    means_.push_back(boundary.seconds_per_sample);
  }
  for (const BlockRecord& record : report.blocks) {
    if (counts(record)) {
      rounds_[record.round][record.arm.boundary] = seconds_per_sample(record.result);
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
    if (pairs[k].size() < kLeastRounds) continue;
    ratios_[k] = typical_ratio(pairs[k]);
    errors_.back() = standard_error(log_ratios(pairs[k]));
  }
}

BesideLive RoundRatios::at_pace(double pace, const Round& round) const {
  BesideLive result{.seconds = {}, .stretch = {}, .errors = errors_};
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

BesideLive RoundRatios::beside_mean() const {
  if (means_.empty()) return {};
  return at_pace(means_.front().value_or(1), {});
}

BesideLive RoundRatios::beside(const BlockRecord& live) const {
  const auto round = rounds_.find(live.round);
  return at_pace(seconds_per_sample(live.result), round == rounds_.end() ? Round{} : round->second);
}

}  // namespace cachebisect

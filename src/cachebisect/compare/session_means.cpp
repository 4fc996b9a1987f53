#include "cachebisect/compare/session_means.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/quantiles.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMaxParts = 5;
constexpr std::size_t kRoundsOfPart = 2;
constexpr std::size_t kMinParts = 3;
/// Keeps the degrees of freedom defined for sessions without any noise.
constexpr double kTinyVariance = 1e-18;

double square(double x) { return x * x; }

}  // namespace

std::vector<RoundTaus> round_taus(std::span<const BlockRecord> blocks) {
  std::map<int, RoundTaus> rounds;
  for (const BlockRecord& block : blocks) {
    if (!block.shows_replay()) continue;
    rounds[block.round].emplace(block.arm.boundary, std::log(block.seconds_per_sample()));
  }
  std::vector<RoundTaus> ordered;
  ordered.reserve(rounds.size());
  for (auto& [number, round] : rounds) ordered.push_back(std::move(round));
  return ordered;
}

std::vector<double> part_means(std::span<const RoundTaus> rounds, const RoundFigure& figure) {
  std::vector<double> values;
  for (const RoundTaus& round : rounds) {
    if (const auto value = figure(round)) values.push_back(*value);
  }
  std::vector<double> means;
  const std::size_t parts = std::min(kMaxParts, values.size() / kRoundsOfPart);
  if (parts < kMinParts) return means;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * values.size() / parts;
    const std::size_t end = (part + 1) * values.size() / parts;
    means.push_back(mean(std::span(values).subspan(first, end - first)));
  }
  return means;
}

std::optional<Interval> session_difference(std::span<const double> a, std::span<const double> b,
                                           double confidence) {
  if (a.empty() || b.empty()) return std::nullopt;
  const double va = square(standard_deviation(a)) + kTinyVariance;
  const double vb = square(standard_deviation(b)) + kTinyVariance;
  // Welch and Satterthwaite.
  const double freedom = square(va + vb) / (square(va) / static_cast<double>(a.size() - 1) +
                                            square(vb) / static_cast<double>(b.size() - 1));
  const double half = student_quantile(confidence, freedom) * std::sqrt(va + vb);
  const double difference = mean(b) - mean(a);
  return Interval{difference - half, difference + half};
}

}  // namespace cachebisect

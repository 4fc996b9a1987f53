#include "cachebisect/compare/paired_stages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/evidence/paired_sequence.hpp"

namespace cachebisect {
namespace {

/// Share of the time of all stages below which one is not worth a line, in both jobs.
constexpr double kLeastShare = 0.01;

/// The blocks of a round: that of A, that of B.
using Pair = std::array<const BlockRecord*, 2>;

std::vector<Pair> pairs_of(const PairedRounds& rounds) {
  std::map<int, Pair> by_round;
  for (const BlockRecord& record : rounds.records) {
    if (!record.is_evidence() || !record.has_counters()) continue;
    by_round[record.round][record.arm == rounds.table.arms().front() ? 0 : 1] = &record;
  }
  std::vector<Pair> pairs;
  for (const auto& [round, pair] : by_round) {
    if (pair[0] != nullptr && pair[1] != nullptr) pairs.push_back(pair);
  }
  return pairs;
}

std::optional<double> seconds_per_sample(const BlockRecord& record, std::size_t stage) {
  const StageCounters& counters = record.result.stages.at(stage);
  if (counters.samples == 0 || !(counters.busy_seconds > 0)) return std::nullopt;
  return counters.busy_seconds / static_cast<double>(counters.samples);
}

Estimate median_of(const std::vector<double>& values, double confidence) {
  return {.value = median(values), .interval = median_interval(values, confidence)};
}

void drop_small(std::vector<ComparedFigure>& figures) {
  double all_a = 0;
  double all_b = 0;
  for (const ComparedFigure& figure : figures) {
    all_a += *figure.a.value;
    all_b += *figure.b.value;
  }
  std::erase_if(figures, [&](const ComparedFigure& figure) {
    return *figure.a.value < kLeastShare * all_a && *figure.b.value < kLeastShare * all_b;
  });
}

}  // namespace

std::vector<ComparedFigure> paired_stages(const PairedRounds& rounds, const ChainDescription& a,
                                          const StageMatches& matches, double confidence) {
  const std::vector<Pair> pairs = pairs_of(rounds);
  std::vector<ComparedFigure> figures;
  for (std::size_t stage = 0; stage < a.stages.size(); ++stage) {
    const std::string& name = a.stages[stage].name;
    const auto other = matches.of(stage);
    if (!other) continue;
    std::vector<double> of_a;
    std::vector<double> of_b;
    PairedSequence evidence(2 / (1 - confidence));
    for (const Pair& pair : pairs) {
      const auto one = seconds_per_sample(*pair[0], stage);
      const auto two = seconds_per_sample(*pair[1], *other);
      if (!one || !two) continue;
      of_a.push_back(*one);
      of_b.push_back(*two);
      evidence.add(std::log(*two / *one));
    }
    if (of_a.empty()) continue;
    figures.push_back({.id = "stages." + name + ".busy",
                       .stage = name,
                       .unit = FigureUnit::seconds_per_sample,
                       .a = median_of(of_a, confidence),
                       .b = median_of(of_b, confidence),
                       .change = change_of(log_ratio(evidence, evidence.centre()))});
  }
  drop_small(figures);
  return figures;
}

}  // namespace cachebisect

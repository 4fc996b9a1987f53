#include "cachebisect/compare/paired_stages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
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

using Matches = std::vector<std::optional<std::size_t>>;

/// By stage of `a`: that of `b` with its name.
Matches matches_by_name(const ChainDescription& a, const ChainDescription& b) {
  Matches matches;
  for (const StageDescription& stage : a.stages) {
    const auto found = std::ranges::find(b.stages, stage.name, &StageDescription::name);
    matches.push_back(found == b.stages.end()
                          ? std::nullopt
                          : std::optional<std::size_t>(found - b.stages.begin()));
  }
  return matches;
}

/// The only stage of this type that matches none; empty if there are several, or none.
std::optional<std::size_t> only_unmatched(const ChainDescription& chain, const std::string& type,
                                          const std::function<bool(std::size_t)>& is_matched) {
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    if (chain.stages[i].type != type || is_matched(i)) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

/// A change may rename a class, and so its stage: what is left matches the only other one of its
/// type.
void match_by_type(const ChainDescription& a, const ChainDescription& b, Matches& matches) {
  const Matches named = matches;
  const auto has_match = [&](std::size_t stage) { return named[stage].has_value(); };
  const auto is_match = [&](std::size_t stage) {
    return std::ranges::find(named, std::optional<std::size_t>(stage)) != named.end();
  };
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const std::string& type = a.stages[i].type;
    if (matches[i] || type.empty() || only_unmatched(a, type, has_match) != i) continue;
    matches[i] = only_unmatched(b, type, is_match);
  }
}

Matches matches_of(const ChainDescription& a, const ChainDescription& b) {
  Matches matches = matches_by_name(a, b);
  match_by_type(a, b, matches);
  return matches;
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
                                          const ChainDescription& b, double confidence) {
  const std::vector<Pair> pairs = pairs_of(rounds);
  const Matches matches = matches_of(a, b);
  std::vector<ComparedFigure> figures;
  for (std::size_t stage = 0; stage < a.stages.size(); ++stage) {
    const std::string& name = a.stages[stage].name;
    const auto other = matches[stage];
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

std::vector<std::string> notes_of_renamed(const ChainDescription& a, const ChainDescription& b) {
  const Matches matches = matches_of(a, b);
  std::vector<std::string> notes;
  for (std::size_t stage = 0; stage < matches.size(); ++stage) {
    const std::string& name = a.stages[stage].name;
    if (!matches[stage] || b.stages[*matches[stage]].name == name) continue;
    notes.push_back("'" + name + "' of A is compared with '" + b.stages[*matches[stage]].name +
                    "' of B, the only other stage of its kind");
  }
  return notes;
}

}  // namespace cachebisect

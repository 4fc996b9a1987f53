#include "cachebisect/bisect/evidence/busy_ratio.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/evidence/paired_sequence.hpp"

namespace cachebisect {
namespace {

/// What one block shows.
struct Block {
  bool crowded = false;
  std::vector<OwnSeconds> own;
};

/// By boundary; 0 is live.
using Round = std::map<int, Block>;

/// One stage, replayed from one boundary.
struct Comparison {
  std::vector<double> log_ratios{};  ///< one per round
  double live_seconds = 0;
  double replayed_seconds = 0;
};

std::map<int, Round> rounds_of(std::span<const BlockRecord> blocks, const ChainDescription& chain,
                               double cores) {
  std::map<int, Round> rounds;
  for (const BlockRecord& block : blocks) {
    if (!block.shows_replay() || !block.has_counters()) continue;
    rounds[block.round].try_emplace(
        block.arm.boundary,
        Block{is_crowded(block.result, cores), own_seconds(block.result, chain, cores)});
  }
  return rounds;
}

void compare(Comparison& comparison, const Round& round, int boundary, std::size_t stage) {
  const auto live = round.find(0);
  const auto replay = round.find(boundary);
  if (live == round.end() || replay == round.end()) return;
  // Threads waited for cores in one of the two blocks: only CPU time can be compared.
  const bool cpu_only = live->second.crowded || replay->second.crowded;
  const auto seconds = [&](const Block& block) {
    return cpu_only ? block.own[stage].cpu : block.own[stage].all;
  };
  const double before = seconds(live->second);
  const double after = seconds(replay->second);
  if (before <= 0 || after <= 0) return;
  comparison.log_ratios.push_back(std::log(after / before));
  comparison.live_seconds += before;
  comparison.replayed_seconds += after;
}

Comparison most_compared(const std::map<int, Round>& rounds, std::size_t stage) {
  Comparison best;
  for (int boundary = static_cast<int>(stage); boundary > 0; --boundary) {
    Comparison comparison;
    for (const auto& [number, round] : rounds) compare(comparison, round, boundary, stage);
    if (comparison.log_ratios.size() > best.log_ratios.size()) best = std::move(comparison);
  }
  return best;
}

Estimate busy_ratio(const Comparison& comparison, double alpha) {
  if (comparison.log_ratios.empty()) return {};
  PairedSequence evidence(2 / alpha);
  for (const double ratio : comparison.log_ratios) evidence.add(ratio);
  const double mean = std::log(comparison.replayed_seconds / comparison.live_seconds);
  const Estimate ratio = ratio_of(log_ratio(evidence, mean));
  return ratio.interval ? ratio : Estimate{};
}

}  // namespace

std::vector<Estimate> replayed_busy_ratios(std::span<const BlockRecord> blocks,
                                           const ChainDescription& chain, double confidence,
                                           double cores) {
  const std::map<int, Round> rounds = rounds_of(blocks, chain, cores);
  std::vector<Estimate> ratios;
  for (std::size_t stage = 0; stage < chain.stages.size(); ++stage) {
    ratios.push_back(busy_ratio(most_compared(rounds, stage), 1 - confidence));
  }
  return ratios;
}

}  // namespace cachebisect

#include "cachebisect/bisect/evidence/replay_fidelity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cachebisect {
namespace {

/// Of the live loop's time: what replay may be off by.
constexpr double kTolerance = 0.02;
/// The workers limit the loop if they work for more than this share of it.
constexpr double kLimits = 0.9;
constexpr std::size_t kRoundsToSuspect = 4;
/// Bytes per second that one thread reads from memory at least. What takes longer is not read: it
/// waits for memory or cores that the loop shares, as it would in training.
constexpr double kSlowestMemory = 2e9;

double sum_after(const std::vector<OwnSeconds>& own, int boundary) {
  double sum = 0;
  for (auto s = static_cast<std::size_t>(boundary); s < own.size(); ++s) sum += own[s].all;
  return sum;
}

void add_to(std::vector<OwnSeconds>& sums, const std::vector<OwnSeconds>& own) {
  sums.resize(own.size());
  for (std::size_t s = 0; s < own.size(); ++s) {
    sums[s].cpu += own[s].cpu;
    sums[s].all += own[s].all;
  }
}

}  // namespace

ReplayFidelity::ReplayFidelity(const ChainDescription& chain, FidelityOptions options)
    : chain_(&chain), options_(std::move(options)) {}

void ReplayFidelity::update(std::span<const BlockRecord> blocks) {
  for (; seen_ < blocks.size(); ++seen_) add(blocks[seen_]);
}

void ReplayFidelity::add(const BlockRecord& block) {
  if (!block.shows_replay() || !block.has_counters()) return;
  if (block.round != round_) {
    round_ = block.round;
    live_.reset();
    replays_.clear();
  }
  Observation seen{block.arm.boundary, block.seconds_per_sample(),
                   own_seconds(block.result, *chain_, options_.cores)};
  if (block.shows_live()) {
    add_to(live_sums_, seen.own);
    ++live_blocks_;
    for (const Observation& replay : replays_) compare(seen, replay);
    live_ = std::move(seen);
    return;
  }
  if (live_) compare(*live_, seen);
  replays_.push_back(std::move(seen));
}

/// How much of the live loop's time the replay is off by: positive if the stages would make it
/// slower at what they cost live, negative if faster. The step hides what workers do meanwhile.
double ReplayFidelity::share(const Observation& live, const Observation& replay) const {
  const int workers = std::max(1, chain_->workers);
  const double as_live = sum_after(live.own, replay.boundary) / workers;
  const double as_replayed = sum_after(replay.own, replay.boundary) / workers;
  const double hidden = chain_->workers > 0 ? std::max(replay.tau, as_replayed) : as_replayed;
  if (as_live > hidden) return (as_live - hidden) / live.tau;
  // The first stage alone finds its input elsewhere than live: in memory.
  const auto first = static_cast<std::size_t>(replay.boundary);
  const bool limits = chain_->workers == 0 || as_replayed > kLimits * replay.tau;
  if (!limits || first >= live.own.size()) return 0;
  const double longer = std::max(0.0, replay.own[first].cpu - live.own[first].cpu);
  return -std::min(longer, reading_seconds(replay.boundary)) / workers / live.tau;
}

double ReplayFidelity::reading_seconds(int boundary) const {
  const auto k = static_cast<std::size_t>(boundary);
  return k < options_.item_bytes.size() ? options_.item_bytes[k] / kSlowestMemory : 0;
}

void ReplayFidelity::compare(const Observation& live, const Observation& replay) {
  const double alpha = (1 - options_.confidence) / static_cast<double>(chain_->stages.size());
  Boundary& at =
      boundaries_.try_emplace(replay.boundary, Boundary{ConfidenceSequence(2 / alpha), {}, {}})
          .first->second;
  at.shares.add(share(live, replay));
  add_to(at.live, live.own);
  add_to(at.replayed, replay.own);
}

Distortion ReplayFidelity::worst_stage(int boundary, const Boundary& sums) {
  const auto rounds = static_cast<double>(sums.shares.rounds());
  Distortion worst{.boundary = boundary, .share = sums.shares.centre()};
  double difference = 0;
  for (auto s = static_cast<std::size_t>(boundary); s < sums.live.size(); ++s) {
    const double here = std::abs(sums.live[s].all - sums.replayed[s].all);
    if (worst.stage != 0 && here <= difference) continue;
    difference = here;
    worst.stage = static_cast<int>(s) + 1;
    worst.live_seconds = sums.live[s].all / rounds;
    worst.replayed_seconds = sums.replayed[s].all / rounds;
  }
  return worst;
}

std::vector<double> ReplayFidelity::live_seconds() const {
  std::vector<double> seconds;
  for (const OwnSeconds& sum : live_sums_) {
    seconds.push_back(sum.all / static_cast<double>(live_blocks_));
  }
  return seconds;
}

std::vector<Distortion> ReplayFidelity::distortions() const {
  std::vector<Distortion> all;
  for (const auto& [boundary, sums] : boundaries_) {
    const bool certified =
        sums.shares.rejects_at_most(kTolerance) || sums.shares.rejects_at_least(-kTolerance);
    const bool likely =
        sums.shares.rounds() >= kRoundsToSuspect && std::abs(sums.shares.centre()) > kTolerance;
    if (!certified && !likely) continue;
    all.push_back(worst_stage(boundary, sums));
    all.back().certified = certified;
  }
  return all;
}

}  // namespace cachebisect

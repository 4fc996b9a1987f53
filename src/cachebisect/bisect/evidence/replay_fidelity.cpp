#include "cachebisect/bisect/evidence/replay_fidelity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cachebisect/bisect/record/round_table.hpp"

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

double sum_from(const std::vector<double>& seconds, int first) {
  return std::accumulate(seconds.begin() + first, seconds.end(), 0.0);
}

void add_to(std::vector<double>& sums, const std::vector<double>& seconds) {
  sums.resize(seconds.size());
  for (std::size_t s = 0; s < seconds.size(); ++s) sums[s] += seconds[s];
}

/// The member of each stage.
std::vector<double> each(const std::vector<OwnSeconds>& own, double OwnSeconds::*member) {
  std::vector<double> seconds(own.size());
  std::transform(own.begin(), own.end(), seconds.begin(),
                 [&](const OwnSeconds& stage) { return stage.*member; });
  return seconds;
}

}  // namespace

ReplayFidelity::ReplayFidelity(const ChainDescription& chain, FidelityOptions options)
    : chain_(&chain), options_(std::move(options)) {}

void ReplayFidelity::update(std::span<const BlockRecord> blocks) {
  for (; seen_ < blocks.size(); ++seen_) add(blocks[seen_]);
}

void ReplayFidelity::add(const BlockRecord& block) {
  if (!block.shows_replay() || !block.has_counters()) return;
  // Blocks of a super-round come in any order.
  rounds_.erase(rounds_.begin(), rounds_.lower_bound(block.round - kMaxRepeats));
  Round& round = rounds_[block.round];
  Observation seen{block.arm.boundary, block.seconds_per_sample(),
                   is_crowded(block.result, options_.cores),
                   own_seconds(block.result, *chain_, options_.cores)};
  if (block.shows_live()) {
    add_to(live_sums_, each(seen.own, &OwnSeconds::all));
    ++live_blocks_;
    for (const Observation& replay : round.replays) compare(seen, replay);
    round.live = std::move(seen);
    return;
  }
  if (round.live) compare(*round.live, seen);
  round.replays.push_back(std::move(seen));
}

/// On crowded cores a stage's busy time holds waiting for them. Replayed, that counts if live has
/// none of it: stages that are cheaper even so are cheaper.
std::vector<double> ReplayFidelity::replayed_seconds(const Observation& live,
                                                     const Observation& replay) {
  return each(replay.own, live.crowded ? &OwnSeconds::all : &OwnSeconds::busy);
}

/// The step hides what workers do meanwhile.
double ReplayFidelity::share_cheaper(const Observation& live, const Observation& replay) const {
  const int workers = std::max(1, chain_->workers);
  const double as_live = sum_from(each(live.own, &OwnSeconds::all), replay.boundary) / workers;
  const double as_replayed = sum_from(replayed_seconds(live, replay), replay.boundary) / workers;
  const double hidden = chain_->workers > 0 ? std::max(replay.tau, as_replayed) : as_replayed;
  return (as_live - hidden) / live.tau;
}

/// The first stage alone finds its input elsewhere than live: in memory.
double ReplayFidelity::share_dearer(const Observation& live, const Observation& replay) const {
  const int workers = std::max(1, chain_->workers);
  const double work = sum_from(each(replay.own, &OwnSeconds::all), replay.boundary) / workers;
  const bool limits = chain_->workers == 0 || work > kLimits * replay.tau;
  const auto first = static_cast<std::size_t>(replay.boundary);
  if (!limits || first >= live.own.size()) return 0;
  const double longer = replay.own[first].cpu - live.own[first].cpu;
  return std::min(longer, reading_seconds(replay.boundary)) / workers / live.tau;
}

double ReplayFidelity::reading_seconds(int boundary) const {
  const auto k = static_cast<std::size_t>(boundary);
  return k < options_.item_bytes.size() ? options_.item_bytes[k] / kSlowestMemory : 0;
}

void ReplayFidelity::compare(const Observation& live, const Observation& replay) {
  const double alpha = (1 - options_.confidence) / static_cast<double>(chain_->stages.size());
  const PairedSequence none(2 / alpha);
  Boundary& at =
      boundaries_.try_emplace(replay.boundary, Boundary{none, none, {}, {}}).first->second;
  at.cheaper.add(share_cheaper(live, replay));
  at.dearer.add(share_dearer(live, replay));
  add_to(at.live, each(live.own, &OwnSeconds::all));
  add_to(at.replayed, replayed_seconds(live, replay));
}

std::optional<Distortion> ReplayFidelity::distortion_of(const Boundary& sums) {
  const bool cheaper = sums.cheaper.rejects_at_most(kTolerance);
  if (cheaper || sums.dearer.rejects_at_most(kTolerance)) {
    return Distortion{.share = cheaper ? sums.cheaper.centre() : -sums.dearer.centre(),
                      .certified = true};
  }
  if (sums.cheaper.rounds() < kRoundsToSuspect) return std::nullopt;
  if (sums.cheaper.centre() > kTolerance) return Distortion{.share = sums.cheaper.centre()};
  if (sums.dearer.centre() > kTolerance) return Distortion{.share = -sums.dearer.centre()};
  return std::nullopt;
}

void ReplayFidelity::add_worst_stage(const Boundary& sums, Distortion& distortion) {
  const auto rounds = static_cast<double>(sums.cheaper.rounds());
  double difference = 0;
  for (auto s = static_cast<std::size_t>(distortion.boundary); s < sums.live.size(); ++s) {
    const double here = std::abs(sums.live[s] - sums.replayed[s]);
    if (distortion.stage != 0 && here <= difference) continue;
    difference = here;
    distortion.stage = static_cast<int>(s) + 1;
    distortion.live_seconds = sums.live[s] / rounds;
    distortion.replayed_seconds = sums.replayed[s] / rounds;
  }
}

std::vector<double> ReplayFidelity::live_seconds() const {
  std::vector<double> seconds = live_sums_;
  for (double& sum : seconds) sum /= static_cast<double>(live_blocks_);
  return seconds;
}

std::vector<Distortion> ReplayFidelity::distortions() const {
  std::vector<Distortion> all;
  for (const auto& [boundary, sums] : boundaries_) {
    auto distortion = distortion_of(sums);
    if (!distortion) continue;
    distortion->boundary = boundary;
    add_worst_stage(sums, *distortion);
    all.push_back(*distortion);
  }
  return all;
}

}  // namespace cachebisect

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
  const bool unseen = block.is_evidence() && block.arm.kind == ArmKind::unseen;
  if (!(unseen || block.shows_replay()) || !block.has_counters()) return;
  // Blocks of a super-round come in any order.
  rounds_.erase(rounds_.begin(), rounds_.lower_bound(block.round - kMaxRepeats));
  Round& round = rounds_[block.round];
  const int boundary = block.arm.boundary;
  Observation seen{boundary, block.seconds_per_sample(), is_crowded(block.result, options_.cores),
                   own_seconds(block.result, *chain_, options_.cores)};
  if (unseen) {
    round.unseen[boundary] = std::move(seen);
    compare_unseen(round, boundary);
    return;
  }
  if (!block.shows_live()) {
    if (round.live) compare(*round.live, seen);
    round.replays[boundary] = std::move(seen);
    compare_unseen(round, boundary);
    return;
  }
  add_to(live_sums_, each(seen.own, &OwnSeconds::all));
  ++live_blocks_;
  round.live = std::move(seen);
  for (const auto& [k, replay] : round.replays) {
    compare(*round.live, replay);
    compare_unseen(round, k);
  }
}

/// On crowded cores a stage's busy time holds waiting for them. Replayed, that counts if live has
/// none of it: stages that are cheaper even so are cheaper.
std::vector<double> ReplayFidelity::replayed_seconds(const Observation& live,
                                                     const Observation& replay) {
  return each(replay.own, live.crowded ? &OwnSeconds::all : &OwnSeconds::busy);
}

/// The step hides what workers do meanwhile.
double ReplayFidelity::seconds_cheaper(const Observation& reference,
                                       const Observation& replay) const {
  const int workers = std::max(1, chain_->workers);
  const double expected =
      sum_from(each(reference.own, &OwnSeconds::all), replay.boundary) / workers;
  const double as_replayed =
      sum_from(replayed_seconds(reference, replay), replay.boundary) / workers;
  return expected - (chain_->workers > 0 ? std::max(replay.tau, as_replayed) : as_replayed);
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

ReplayFidelity::Boundary& ReplayFidelity::at(int boundary) {
  const double alpha = (1 - options_.confidence) / static_cast<double>(chain_->stages.size());
  const PairedSequence none(2 / alpha);
  return boundaries_.try_emplace(boundary, Boundary{none, none, none, {}, {}}).first->second;
}

void ReplayFidelity::compare(const Observation& live, const Observation& replay) {
  Boundary& sums = at(replay.boundary);
  sums.cheaper.add(seconds_cheaper(live, replay) / live.tau);
  sums.dearer.add(share_dearer(live, replay));
  add_to(sums.live, each(live.own, &OwnSeconds::all));
  add_to(sums.replayed, replayed_seconds(live, replay));
}

void ReplayFidelity::compare_unseen(const Round& round, int boundary) {
  const auto replay = round.replays.find(boundary);
  const auto unseen = round.unseen.find(boundary);
  if (!round.live || replay == round.replays.end() || unseen == round.unseen.end()) return;
  at(boundary).remembered.add(seconds_cheaper(unseen->second, replay->second) / round.live->tau);
}

std::optional<Distortion> ReplayFidelity::cheaper_of(const Boundary& sums) {
  const double centre = sums.cheaper.centre();
  if (sums.cheaper.rejects_at_most(kTolerance)) {
    return Distortion{.share = centre,
                      .certified = true,
                      .remembers = sums.remembered.rejects_at_most(kTolerance)};
  }
  if (sums.cheaper.rounds() < kRoundsToSuspect || centre <= kTolerance) return std::nullopt;
  return Distortion{.share = centre};
}

std::optional<Distortion> ReplayFidelity::dearer_of(const Boundary& sums) {
  const double centre = sums.dearer.centre();
  if (sums.dearer.rejects_at_most(kTolerance)) {
    return Distortion{.share = -centre, .certified = true};
  }
  if (sums.dearer.rounds() < kRoundsToSuspect || centre <= kTolerance) return std::nullopt;
  return Distortion{.share = -centre};
}

/// What is certified comes first, and what is cheaper.
std::optional<Distortion> ReplayFidelity::distortion_of(const Boundary& sums) {
  const std::optional<Distortion> dearer = dearer_of(sums);
  if (sums.remembered.rejects_at_least(kTolerance)) return dearer;
  const std::optional<Distortion> cheaper = cheaper_of(sums);
  return cheaper && (cheaper->certified || !dearer || !dearer->certified) ? cheaper : dearer;
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

template <typename Find>
std::vector<Distortion> ReplayFidelity::find_all(const Find& find) const {
  std::vector<Distortion> all;
  for (const auto& [boundary, sums] : boundaries_) {
    std::optional<Distortion> found = sums.cheaper.rounds() > 0 ? find(sums) : std::nullopt;
    if (!found) continue;
    found->boundary = boundary;
    found->unseen_rounds = sums.remembered.rounds();
    add_worst_stage(sums, *found);
    all.push_back(*found);
  }
  return all;
}

std::vector<Distortion> ReplayFidelity::distortions() const { return find_all(distortion_of); }

std::vector<Distortion> ReplayFidelity::slowed() const {
  return find_all([](const Boundary& sums) {
    const bool acquitted = sums.remembered.rejects_at_least(kTolerance);
    return acquitted && sums.cheaper.rejects_at_most(kTolerance) ? cheaper_of(sums) : std::nullopt;
  });
}

}  // namespace cachebisect

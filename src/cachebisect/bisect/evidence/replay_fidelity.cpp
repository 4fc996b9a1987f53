#include "cachebisect/bisect/evidence/replay_fidelity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {
namespace {

/// Share of a span's live time or loss that one stage must take for the loss to be its own.
constexpr double kMostOfSpan = 0.7;

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

std::optional<int> dominant_stage(const JoinedSpan& span, std::span<const Distortion> distortions) {
  const auto stages = static_cast<int>(span.live_seconds.size());
  const int from = std::min(span.part.from, stages);
  const int to = std::min(span.part.to, stages);
  const double whole =
      std::accumulate(span.live_seconds.begin() + from, span.live_seconds.begin() + to, 0.0);
  for (const Distortion& distortion : distortions) {
    const bool inside = distortion.boundary > from && distortion.stage <= to;
    if (!inside || !distortion.certified || distortion.share <= 0) continue;
    const double live = span.live_seconds[static_cast<std::size_t>(distortion.stage) - 1];
    if (live <= kMostOfSpan * whole) continue;
    const bool open = distortion.unseen_rounds > 0 && !distortion.remembers;
    // On crowded cores what stages wait is not in their own time, but in the loss.
    const double others =
        std::max(whole, span.loss_seconds) - std::min(live, distortion.replayed_seconds);
    if (!open || others < (1 - kMostOfSpan) * span.loss_seconds) return distortion.stage;
  }
  return std::nullopt;
}

ReplayFidelity::ReplayFidelity(const ChainDescription& chain, FidelityOptions options)
    : chain_(&chain), options_(std::move(options)) {}

void ReplayFidelity::update(std::span<const BlockRecord> blocks) {
  for (; seen_ < blocks.size(); ++seen_) add(blocks[seen_]);
  settle();
}

void ReplayFidelity::add(const BlockRecord& block) {
  const bool unseen = block.is_evidence() && block.arm.kind == ArmKind::unseen;
  if (!(unseen || block.shows_replay()) || !block.has_counters()) return;
  if (block.super_round != open_.number) settle();
  open_.number = block.super_round;
  const Observation seen{block.seconds_per_sample(), is_crowded(block.result, options_.cores),
                         own_seconds(block.result, *chain_, options_.cores)};
  if (block.shows_live()) {
    add_to(live_sums_, each(seen.own, &OwnSeconds::all));
    ++live_blocks_;
    open_.live[block.round] = seen;
  } else {
    (unseen ? open_.unseen : open_.replays)[block.arm.boundary][block.round] = seen;
  }
}

/// The blocks of the open super-round become evidence.
void ReplayFidelity::settle() {
  open_.live_tau = mean_tau(open_.live);
  const auto ceiling = open_.replays.find(static_cast<int>(chain_->stages.size()));
  if (ceiling != open_.replays.end()) open_.ceiling_tau = mean_tau(ceiling->second);
  for (const auto& [boundary, replays] : open_.replays) {
    const std::vector<Pair> pairs = pairs_of(open_.live, replays);
    if (pairs.empty()) continue;
    Boundary& sums = at(boundary);
    add_cheaper(pairs, boundary, sums.cheaper);
    add_dearer(pairs, boundary, sums.dearer);
    const auto member = replayed_member(pairs);
    for (const Pair& pair : pairs) {
      add_to(sums.live, each(pair.reference->own, &OwnSeconds::all));
      add_to(sums.replayed, each(pair.replay->own, member));
    }
    add_cheaper(pairs_of(open_.unseen[boundary], replays), boundary, sums.remembered);
  }
  open_ = {};
}

double ReplayFidelity::mean_tau(const Observations& all) {
  double sum = 0;
  for (const auto& [round, seen] : all) sum += seen.tau;
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::vector<ReplayFidelity::Pair> ReplayFidelity::pairs_of(const Observations& references,
                                                           const Observations& replays) {
  std::vector<Pair> pairs;
  for (const auto& [round, reference] : references) {
    const auto replay = replays.find(round);
    if (replay != replays.end()) pairs.push_back({&reference, &replay->second});
  }
  return pairs;
}

/// On crowded cores a stage's busy time holds waiting for them. Replayed, that counts if the
/// reference has none of it: stages that are cheaper even so are cheaper.
double OwnSeconds::*ReplayFidelity::replayed_member(const std::vector<Pair>& pairs) {
  const bool crowded =
      std::ranges::any_of(pairs, [](const Pair& p) { return p.reference->crowded; });
  return crowded ? &OwnSeconds::all : &OwnSeconds::busy;
}

/// Per sample, of all workers together.
double ReplayFidelity::worker_seconds(const std::vector<double>& stages, int boundary) const {
  return sum_from(stages, boundary) / std::max(1, chain_->workers);
}

/// The step hides what workers do meanwhile.
void ReplayFidelity::add_cheaper(const std::vector<Pair>& pairs, int boundary,
                                 RankSequence& to) const {
  if (pairs.empty()) return;
  const double live_tau = open_.live_tau;
  const auto member = replayed_member(pairs);
  std::vector<double> expected;
  std::vector<double> found;
  for (const Pair& pair : pairs) {
    expected.push_back(worker_seconds(each(pair.reference->own, &OwnSeconds::all), boundary) /
                       live_tau);
    const double work = worker_seconds(each(pair.replay->own, member), boundary);
    found.push_back((chain_->workers > 0 ? std::max(pair.replay->tau, work) : work) / live_tau);
  }
  to.add(expected, found);
}

/// The first stage alone finds its input elsewhere than live: in memory.
void ReplayFidelity::add_dearer(const std::vector<Pair>& pairs, int boundary,
                                RankSequence& to) const {
  const int workers = std::max(1, chain_->workers);
  const double live_tau = open_.live_tau;
  const auto first = static_cast<std::size_t>(boundary);
  const bool limits = work_limits(pairs, boundary);
  std::vector<double> replayed(pairs.size(), 0.0);
  std::vector<double> live(pairs.size(), 0.0);
  for (std::size_t i = 0; limits && i < pairs.size(); ++i) {
    if (first >= pairs[i].reference->own.size()) continue;
    live[i] = pairs[i].reference->own[first].cpu / workers / live_tau;
    replayed[i] = std::min(pairs[i].replay->own[first].cpu / workers / live_tau,
                           live[i] + reading_seconds(boundary) / workers / live_tau);
  }
  to.add(replayed, live);
}

bool ReplayFidelity::work_limits(const std::vector<Pair>& pairs, int boundary) const {
  double work = 0;
  double tau = 0;
  for (const Pair& pair : pairs) {
    work += worker_seconds(each(pair.replay->own, &OwnSeconds::all), boundary);
    tau += pair.replay->tau;
  }
  const double above_ceiling = tau / static_cast<double>(pairs.size()) - open_.ceiling_tau;
  if (above_ceiling <= kNegligible * open_.live_tau) return false;
  return chain_->workers == 0 || work > kNearlyAll * tau;
}

/// What takes longer than reading from memory waits for memory or cores that the loop shares, as it
/// would in training.
double ReplayFidelity::reading_seconds(int boundary) const {
  const auto k = static_cast<std::size_t>(boundary);
  return k < options_.item_bytes.size() ? options_.item_bytes[k] / kLeastMemorySpeed : 0;
}

ReplayFidelity::Boundary& ReplayFidelity::at(int boundary) {
  const double alpha = (1 - options_.confidence) / static_cast<double>(chain_->stages.size());
  const RankSequence none(2 / alpha);
  return boundaries_.try_emplace(boundary, Boundary{none, none, none, {}, {}}).first->second;
}

std::optional<Distortion> ReplayFidelity::cheaper_of(const Boundary& sums) {
  const double centre = sums.cheaper.centre();
  if (sums.cheaper.rejects_at_most(kNegligible)) {
    return Distortion{.share = centre,
                      .certified = true,
                      .remembers = sums.remembered.rejects_at_most(kNegligible)};
  }
  if (sums.cheaper.rounds() <= kUsualRepeats || centre <= kNegligible) return std::nullopt;
  return Distortion{.share = centre};
}

std::optional<Distortion> ReplayFidelity::dearer_of(const Boundary& sums) {
  const double centre = sums.dearer.centre();
  if (sums.dearer.rejects_at_most(kNegligible)) {
    return Distortion{.share = -centre, .certified = true};
  }
  if (sums.dearer.rounds() <= kUsualRepeats || centre <= kNegligible) return std::nullopt;
  return Distortion{.share = -centre};
}

/// What is certified comes first, and what is cheaper.
std::optional<Distortion> ReplayFidelity::distortion_of(const Boundary& sums) {
  const std::optional<Distortion> dearer = dearer_of(sums);
  if (sums.remembered.rejects_at_least(kNegligible)) return dearer;
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
    const bool acquitted = sums.remembered.rejects_at_least(kNegligible);
    return acquitted && sums.cheaper.rejects_at_most(kNegligible) ? cheaper_of(sums) : std::nullopt;
  });
}

}  // namespace cachebisect

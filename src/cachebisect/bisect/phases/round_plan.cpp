#include "cachebisect/bisect/phases/round_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/phases/round_arms.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"

namespace cachebisect {
namespace {

void make_set(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool stalls(const Finding& finding) {
  if (finding.by_mean) return true;
  return finding.bursty && finding.rounds >= kRoundsToSpread && finding.drop > finding.median_drop;
}

}  // namespace

RoundPlan::RoundPlan(RoundPlanOptions options)
    : options_(std::move(options)), lengths_(options_.blocks) {
  for (const int boundary : options_.candidates) {
    if (boundary < 0 || boundary > options_.stages) {
      throw Error(ErrorKind::usage, "boundary " + std::to_string(boundary) +
                                        " does not exist; this chain has 0 to " +
                                        std::to_string(options_.stages));
    }
  }
  options_.candidates.push_back(0);
  options_.candidates.push_back(options_.stages);
  make_set(options_.candidates);
  step_seconds_.assign(at(options_.stages) + 1, 0);
  usual_seconds_ = step_seconds_;
  measured_.assign(at(options_.stages) + 1, std::nullopt);
  boundaries_ = {0, options_.stages};
}

void RoundPlan::set_pilot(int boundary, double step_seconds) {
  step_seconds_.at(at(boundary)) = std::max(step_seconds, 1e-9);
  pilot_seconds_ += block_seconds(boundary);
}

void RoundPlan::set_prior(const std::vector<double>& seconds_per_sample) {
  prior_.clear();
  for (const double seconds : seconds_per_sample) {
    prior_.push_back(std::log(std::max(seconds, 1e-12)));
  }
}

bool RoundPlan::follow_quota(double period_seconds) {
  quota_ = period_seconds > 0;
  lengths_.set_quota_period(period_seconds);
  return quota_;
}

double RoundPlan::usual_step_seconds(int boundary) const {
  const double usual = usual_seconds_.at(at(boundary));
  return usual > 0 ? usual : step_seconds(boundary);
}

double RoundPlan::length_seconds(int boundary) const {
  const double usual = usual_step_seconds(boundary);
  const double piloted = step_seconds(boundary);
  return quota_ || usual < kMostOf * piloted ? usual : piloted;
}

PlannedBlock RoundPlan::block(int boundary) const {
  return lengths_.block({.boundary = boundary}, length_seconds(boundary));
}

std::uint64_t RoundPlan::samples_of_super_round() const {
  const int block_steps = lengths_.warmup(0, length_seconds(0)) + steps(0);
  return static_cast<std::uint64_t>(kUsualRepeats * block_steps * options_.batch_size);
}

double RoundPlan::block_seconds(int boundary) const {
  // An unknown boundary takes at most as long as live; a pilot block may have met a stall.
  const int like = piloted(boundary) ? boundary : 0;
  return (lengths_.warmup(boundary, length_seconds(like)) + steps(like)) * usual_step_seconds(like);
}

std::vector<RoundPlan::PartLoss> RoundPlan::part_losses() const {
  std::vector<PartLoss> parts;
  const auto level = [&](int k) -> std::optional<double> {
    if (measured_[at(k)]) return measured_[at(k)];
    if (std::find(avoided_.begin(), avoided_.end(), k) != avoided_.end()) return std::nullopt;
    if (noisy() || !piloted(k) || !piloted(options_.stages)) return std::nullopt;
    return std::log(step_seconds_[at(k)] / step_seconds_.back());
  };
  int last = 0;
  for (int k = 1; k <= options_.stages; ++k) {
    const auto here = level(k);
    if (!here) continue;
    PartLoss loss{{last, k}, std::exp(level(last).value_or(0)) - std::exp(*here), false};
    loss.excluded = std::any_of(excluded_.begin(), excluded_.end(),
                                [&](const Part& part) { return part.holds(loss.part); });
    parts.push_back(loss);
    last = k;
  }
  return parts;
}

double RoundPlan::worth(const std::vector<PartLoss>& parts) const {
  double bar = options_.min_drop;
  for (const PartLoss& part : parts) bar = std::max(bar, part.loss);
  return kOpenAbove * bar;
}

std::optional<int> RoundPlan::expected_split(const Part& part) const {
  if (prior_.size() != step_seconds_.size()) return std::nullopt;
  int best = part.from + 1;
  const auto seconds = [&](int k) { return std::exp(prior_[at(k)] - prior_.back()); };
  const auto expected = [&](int stage) { return seconds(stage - 1) - seconds(stage); };
  for (int stage = part.from + 1; stage <= part.to; ++stage) {
    if (expected(stage) > expected(best)) best = stage;
  }
  const double whole = seconds(part.from) - seconds(part.to);
  if (expected(best) < kMostOf * whole || expected(best) < kNegligible) return std::nullopt;
  return best - 1 > part.from ? best - 1 : best;
}

int RoundPlan::split(const Part& part) const {
  return nearest_inside(part, expected_split(part).value_or(part.from + (part.to - part.from) / 2));
}

int RoundPlan::nearest_inside(const Part& part, int wanted) const {
  std::optional<int> nearest;
  for (const int k : options_.candidates) {
    if (k <= part.from || k >= part.to) continue;
    if (!nearest || std::abs(k - wanted) < std::abs(*nearest - wanted)) nearest = k;
  }
  return nearest.value();
}

std::optional<int> RoundPlan::to_pilot() const {
  const auto unknown = std::find_if(options_.candidates.begin(), options_.candidates.end(),
                                    [&](int k) { return !piloted(k); });
  if (unknown == options_.candidates.end()) return std::nullopt;
  if (options_.all) return *unknown;
  const auto parts = part_losses();
  if (noisy()) return std::nullopt;
  if (pilot_seconds_ > kShareToPrepare * options_.budget_seconds) return std::nullopt;
  const PartLoss* largest = largest_to_open(parts);
  return largest == nullptr ? std::nullopt : std::optional(split(largest->part));
}

void RoundPlan::avoid(int boundary) {
  const bool end = boundary == 0 || boundary == options_.stages;
  if (options_.all || end || std::erase(options_.candidates, boundary) == 0) return;
  avoided_.push_back(boundary);
  std::erase(opened_, boundary);
}

void RoundPlan::update(const Findings& findings, const RoundTable& rounds) {
  for (const int k : visited_boundaries(rounds)) {
    usual_seconds_[at(k)] = median(rounds.block_taus(k)) * options_.batch_size;
  }
  const Finding& whole = findings.whole;
  const double centre = bounded_theta(whole.median_drop);
  const double lost = stalls(whole) ? bounded_theta(whole.drop) : centre;
  stalled_ = std::exp(lost) - std::exp(centre);
  find_stalled_ends(findings, rounds);
  min_visits_ = findings.min_visits;
  challenger_.reset();
  if (findings.challenger) challenger_ = findings.parts[*findings.challenger].part;
  lossy_ = lost > std::max(kOpenAbove * drop_to_theta(options_.min_drop), whole.error());
  if (findings.parts.size() == 1 && !options_.all && !noisy()) {
    if (whole.rounds < kUsualRepeats || lost <= kOpenAbove * drop_to_theta(options_.min_drop))
      return;
  }
  measured_ = boundary_levels(rounds);
  for (int k = 1; k < options_.stages; ++k) {
    if (rounds.visits(k) < min_visits_) measured_[at(k)].reset();
  }
  for (const int k : avoided_) measured_[at(k)].reset();
  std::erase_if(opened_, [&](int k) { return measured_[at(k)].has_value(); });
  excluded_.clear();
  for (const Finding& finding : findings.parts) {
    if (finding.excluded) excluded_.push_back(finding.part);
  }
  choose();
}

/// Single blocks do not show where rare stalls arise: all boundaries are visited then, if so many
/// rounds of them fit as show how blocks spread.
bool RoundPlan::looks_for_stalls(const std::vector<PartLoss>& parts) const {
  return stalled_ > worth(parts) &&
         kRoundsToSpread * round_seconds(options_.candidates) <= options_.budget_seconds;
}

/// After those rounds: stalls show at all boundaries before the stage that stalls, so the last part
/// that seems to lose is the most likely one; and all those whose mean stands out.
void RoundPlan::find_stalled_ends(const Findings& findings, const RoundTable& rounds) {
  stalled_ends_ = {0, options_.stages};
  for (const int k : options_.candidates) {
    if (rounds.visits(k) < kRoundsToSpread) stalled_ends_.push_back(k);
  }
  std::optional<Part> last;
  for (const Finding& finding : findings.parts) {
    if (finding.drop <= options_.min_drop) continue;
    last = finding.part;
    if (finding.by_mean) stalled_ends_.insert(stalled_ends_.end(), {last->from, last->to});
  }
  if (last) stalled_ends_.insert(stalled_ends_.end(), {last->from, last->to});
}

const RoundPlan::PartLoss* RoundPlan::largest_to_open(const std::vector<PartLoss>& parts) const {
  const PartLoss* largest = nullptr;
  for (const PartLoss& part : parts) {
    if (part.excluded || part.loss <= worth(parts) || !can_open(part.part, options_.candidates))
      continue;
    if (largest == nullptr || part.loss > largest->loss) largest = &part;
  }
  return largest;
}

/// Both ends of the stage that the law expects to lose most of it, or the middle of the part.
std::vector<int> RoundPlan::pieces(const Part& part) const {
  if (const auto first = expected_split(part)) {
    std::vector<int> ends{nearest_inside(part, *first)};
    if (*first + 1 < part.to) ends.push_back(nearest_inside(part, *first + 1));
    return ends;
  }
  return {split(part)};
}

/// Single blocks do not tell: a few more boundaries are visited until they are known.
void RoundPlan::open_in_noise(const std::vector<PartLoss>& parts) {
  if (opened_.empty() && lossy_) {
    if (const PartLoss* largest = largest_to_open(parts)) opened_ = pieces(largest->part);
  }
  for (const int k : opened_) {
    boundaries_.push_back(k);
    for (const PartLoss& part : parts) {
      if (part.part.from > k || part.part.to < k) continue;
      boundaries_.push_back(part.part.from);
      boundaries_.push_back(part.part.to);
    }
  }
}

void RoundPlan::visit_doubted() {
  std::vector<int> certain = options_.candidates;
  std::erase_if(certain, [&](int k) { return std::ranges::find(doubted_, k) != doubted_.end(); });
  for (const int k : doubted_) {
    boundaries_.push_back(k);
    const auto above = std::upper_bound(certain.begin(), certain.end(), k);
    if (above != certain.end()) boundaries_.push_back(*above);
    if (above != certain.begin()) boundaries_.push_back(*std::prev(above));
  }
}

void RoundPlan::choose() {
  if (options_.all) {
    boundaries_ = options_.candidates;
    return;
  }
  const auto parts = part_losses();
  if (looks_for_stalls(parts)) {
    boundaries_ = stalled_ends_;
  } else {
    choose_by_loss(parts);
  }
  visit_doubted();
  if (challenger_) boundaries_.insert(boundaries_.end(), {challenger_->from, challenger_->to});
  make_set(boundaries_);
}

void RoundPlan::choose_by_loss(const std::vector<PartLoss>& parts) {
  const double limit = worth(parts);
  boundaries_ = {0, options_.stages};
  // Neighbours are taken together while they lose little, or while no question is open on any.
  double together = 0;
  bool open = false;
  for (const PartLoss& part : parts) {
    const double loss = std::max(0.0, part.loss);
    together += loss;
    open = open || !part.excluded;
    if (!open || together <= limit) continue;
    boundaries_.push_back(part.part.from);
    together = loss;
    open = !part.excluded;
    if (!open || loss <= limit) continue;
    boundaries_.push_back(part.part.to);
    together = 0;
    open = false;
  }
  if (noisy()) open_in_noise(parts);
}

std::vector<int> RoundPlan::suspects() const {
  const auto parts = part_losses();
  const auto largest =
      std::max_element(parts.begin(), parts.end(),
                       [](const PartLoss& a, const PartLoss& b) { return a.loss < b.loss; });
  std::vector<int> result;
  if (largest == parts.end() || largest->loss <= worth(parts)) return result;
  for (int stage = largest->part.from + 1; stage <= largest->part.to; ++stage) {
    result.push_back(stage);
  }
  return result;
}

double RoundPlan::round_seconds() const {
  return round_seconds(boundaries_) + (live_twice() ? block_seconds(0) : 0);
}

double RoundPlan::round_seconds(const std::vector<int>& boundaries) const {
  double seconds = 0;
  for (const int k : boundaries) seconds += block_seconds(k);
  return seconds * (1 + kNullShare);
}

}  // namespace cachebisect

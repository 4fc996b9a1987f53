#include "cachebisect/bisect/search/plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr double kBlockSeconds = 0.040;
constexpr int kLeastSteps = 3;
constexpr int kLeastWarmup = 2;
/// Nothing but the device's buffers has to fill.
constexpr int kWarmupOfDevice = 4;
constexpr int kMostSteps = 100000;
/// Many workers would make blocks of slow steps too long.
constexpr int kMostStretch = 4;
constexpr double kRoundsThatMustFit = 15;
constexpr double kPilotShare = 0.25;
constexpr double kNullShare = 0.1;
/// Parts that lose this share of the largest part's loss, or of min_drop, are looked at by
/// themselves.
constexpr double kWorth = 0.6;
/// Chains this short begin with a few rounds of all boundaries, for a share of the budget.
constexpr std::size_t kMostToSurvey = 13;
constexpr std::size_t kSurveyRounds = 3;
constexpr double kSurveyShare = 0.1;
/// A chain that seemed flat to the pilot is looked at stage by stage only when so many rounds show
/// a loss of this share of min_drop.
constexpr std::size_t kRoundsToTrust = 3;
constexpr double kLost = 0.8;
/// In noise a span is opened in so many pieces.
constexpr int kPieces = 4;
/// Rounds after which a mean far from the centre is taken for stalls.
constexpr std::size_t kRoundsForStalls = 10;
/// The law is followed where it expects this share of a span's loss at one stage.
constexpr double kExpected = 0.5;

void make_set(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool stalls(const Finding& finding) {
  return finding.bursty && finding.rounds >= kRoundsForStalls && finding.drop > finding.median_drop;
}

double to_theta(double drop) { return drop_to_theta(std::min(drop, 0.999999)); }

bool holds(const Part& whole, const Part& part) {
  return whole.from <= part.from && part.to <= whole.to;
}

}  // namespace

Plan::Plan(PlanOptions options) : options_(std::move(options)) {
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

void Plan::set_pilot(int boundary, double step_seconds) {
  step_seconds_.at(at(boundary)) = std::max(step_seconds, 1e-9);
  pilot_seconds_ += block_seconds(boundary);
}

void Plan::set_prior(const std::vector<double>& seconds_per_sample) {
  prior_.clear();
  for (const double seconds : seconds_per_sample) {
    prior_.push_back(std::log(std::max(seconds, 1e-12)));
  }
}

int Plan::steps(int boundary) const { return steps_for(step_seconds(boundary)); }

int Plan::steps_for(double step_seconds) const {
  if (step_seconds <= 0) return whole_groups(kLeastSteps);
  return whole_groups(static_cast<int>(
      std::clamp<double>(std::ceil(kBlockSeconds / step_seconds), kLeastSteps, kMostSteps)));
}

int Plan::whole_groups(int steps) const {
  const int group = std::max(1, options_.workers);
  const int whole = (steps + group - 1) / group * group;
  return whole <= kMostStretch * steps ? whole : steps;
}

int Plan::warmup(int boundary) const noexcept {
  const bool ready = options_.ready_from > 0 && boundary >= options_.ready_from;
  return ready ? std::min(warmup_, kWarmupOfDevice) : warmup_;
}

int Plan::draw_warmup(int boundary, RandomStream& random) const {
  const int usual = warmup(boundary);
  if (options_.workers < 2) return usual;
  const int least = std::max(kLeastWarmup, usual - options_.workers);
  const int choices = std::max(2, 2 * (usual - least));
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(choices)));
}

double Plan::block_seconds(int boundary) const {
  // An unknown boundary costs at most what live costs; a pilot block may have met a stall.
  const int like = piloted(boundary) ? boundary : 0;
  const double usual = usual_seconds_[at(like)];
  return (warmup(boundary) + steps(like)) * (usual > 0 ? usual : step_seconds_[at(like)]);
}

std::vector<Plan::Estimate> Plan::estimates() const {
  std::vector<Estimate> parts;
  const auto level = [&](int k) -> std::optional<double> {
    if (measured_[at(k)]) return measured_[at(k)];
    if (noisy() || !piloted(k) || !piloted(options_.stages)) return std::nullopt;
    return std::log(step_seconds_[at(k)] / step_seconds_.back());
  };
  int last = 0;
  for (int k = 1; k <= options_.stages; ++k) {
    const auto here = level(k);
    if (!here) continue;
    Estimate estimate{{last, k}, level(last).value_or(0) - *here, false};
    estimate.excluded = std::any_of(excluded_.begin(), excluded_.end(),
                                    [&](const Part& part) { return holds(part, estimate.part); });
    parts.push_back(estimate);
    last = k;
  }
  return parts;
}

double Plan::worth(const std::vector<Estimate>& parts) const {
  double bar = drop_to_theta(options_.min_drop);
  for (const Estimate& estimate : parts) bar = std::max(bar, estimate.loss);
  return kWorth * bar;
}

bool Plan::surveying(const std::vector<Estimate>& parts) const {
  if (options_.candidates.size() > kMostToSurvey || survey_rounds_ >= kSurveyRounds) return false;
  if (kSurveyRounds * round_seconds(options_.candidates) > kSurveyShare * options_.budget_seconds) {
    return false;
  }
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Estimate& part) { return part.loss > worth(parts); });
}

std::optional<int> Plan::expected_split(const Part& part) const {
  if (prior_.size() != step_seconds_.size()) return std::nullopt;
  int best = part.from + 1;
  const auto expected = [&](int stage) { return prior_[at(stage) - 1] - prior_[at(stage)]; };
  for (int stage = part.from + 1; stage <= part.to; ++stage) {
    if (expected(stage) > expected(best)) best = stage;
  }
  const double whole = prior_[at(part.from)] - prior_[at(part.to)];
  if (expected(best) < kExpected * whole || expected(best) < 0.02) return std::nullopt;
  return best - 1 > part.from ? best - 1 : best;
}

int Plan::split(const Part& part) const {
  return nearest_inside(part, expected_split(part).value_or(part.from + (part.to - part.from) / 2));
}

int Plan::nearest_inside(const Part& part, int wanted) const {
  std::optional<int> nearest;
  for (const int k : options_.candidates) {
    if (k <= part.from || k >= part.to) continue;
    if (!nearest || std::abs(k - wanted) < std::abs(*nearest - wanted)) nearest = k;
  }
  return nearest.value();
}

std::optional<int> Plan::to_pilot() const {
  const auto unknown = std::find_if(options_.candidates.begin(), options_.candidates.end(),
                                    [&](int k) { return !piloted(k); });
  if (unknown == options_.candidates.end()) return std::nullopt;
  if (options_.all) return *unknown;
  const auto parts = estimates();
  if (noisy()) return std::nullopt;
  if (surveying(parts)) return *unknown;
  if (pilot_seconds_ > kPilotShare * options_.budget_seconds) return std::nullopt;
  const Estimate* largest = largest_to_open(parts);
  return largest == nullptr ? std::nullopt : std::optional(split(largest->part));
}

void Plan::update(const Findings& findings, const RoundTable& rounds) {
  for (const int k : rounds.visited_boundaries()) {
    usual_seconds_[at(k)] = median(rounds.block_taus(k)) * options_.batch_size;
  }
  const Finding& whole = findings.whole;
  stalled_ = stalls(whole) ? to_theta(whole.drop) - to_theta(whole.median_drop) : 0;
  least_visits_ = findings.least_visits;
  const double lost = to_theta(whole.median_drop) + stalled_;
  lossy_ = lost > std::max(kLost * drop_to_theta(options_.min_drop), whole.error());
  if (findings.parts.size() == 1 && !options_.all && !noisy()) {
    if (whole.rounds < kRoundsToTrust || lost <= kLost * drop_to_theta(options_.min_drop)) return;
  }
  measured_ = rounds.levels();
  for (int k = 1; k < options_.stages; ++k) {
    if (rounds.visits(k) < least_visits_) measured_[at(k)].reset();
  }
  std::erase_if(opened_, [&](int k) { return measured_[at(k)].has_value(); });
  survey_rounds_ = rounds.rounds();
  for (const int k : options_.candidates) {
    survey_rounds_ = std::min(survey_rounds_, static_cast<std::size_t>(rounds.visits(k)));
  }
  excluded_.clear();
  for (const Finding& finding : findings.parts) {
    if (finding.excluded) excluded_.push_back(finding.part);
  }
  choose();
}

/// Single blocks do not show where rare stalls arise: then all boundaries are visited, if 15 rounds
/// of them fit.
bool Plan::worth_all_boundaries(const std::vector<Estimate>& parts) const {
  if (options_.all || surveying(parts)) return true;
  return stalled_ > worth(parts) &&
         kRoundsThatMustFit * round_seconds(options_.candidates) <= options_.budget_seconds;
}

const Plan::Estimate* Plan::largest_to_open(const std::vector<Estimate>& parts) const {
  const Estimate* largest = nullptr;
  for (const Estimate& estimate : parts) {
    if (estimate.excluded || estimate.loss <= worth(parts) || !can_open(estimate.part)) continue;
    if (largest == nullptr || estimate.loss > largest->loss) largest = &estimate;
  }
  return largest;
}

/// Both ends of the stage that the law expects to lose most of it, or pieces of equal length.
std::vector<int> Plan::pieces(const Part& part) const {
  if (const auto first = expected_split(part)) {
    std::vector<int> ends{nearest_inside(part, *first)};
    if (*first + 1 < part.to) ends.push_back(nearest_inside(part, *first + 1));
    return ends;
  }
  std::vector<int> ends;
  for (int i = 1; i < kPieces; ++i) {
    ends.push_back(nearest_inside(part, part.from + (part.to - part.from) * i / kPieces));
  }
  return ends;
}

/// No single block tells anything: a few boundaries more are visited until they are known.
void Plan::open_in_noise(const std::vector<Estimate>& parts) {
  if (opened_.empty() && lossy_) {
    if (const Estimate* largest = largest_to_open(parts)) opened_ = pieces(largest->part);
  }
  for (const int k : opened_) {
    boundaries_.push_back(k);
    for (const Estimate& estimate : parts) {
      if (estimate.part.from > k || estimate.part.to < k) continue;
      boundaries_.push_back(estimate.part.from);
      boundaries_.push_back(estimate.part.to);
    }
  }
}

void Plan::choose() {
  const auto parts = estimates();
  if (worth_all_boundaries(parts)) {
    boundaries_ = options_.candidates;
    return;
  }
  const double limit = worth(parts);
  boundaries_ = {0, options_.stages};
  // Neighbours are taken together while they lose little, or while no question is open on any.
  double together = 0;
  bool open = false;
  for (const Estimate& estimate : parts) {
    const double loss = std::max(0.0, estimate.loss);
    together += loss;
    open = open || !estimate.excluded;
    if (!open || together <= limit) continue;
    boundaries_.push_back(estimate.part.from);
    together = loss;
    open = !estimate.excluded;
    if (!open || loss <= limit) continue;
    boundaries_.push_back(estimate.part.to);
    together = 0;
    open = false;
  }
  if (noisy()) open_in_noise(parts);
  make_set(boundaries_);
}

std::vector<int> Plan::suspects() const {
  const auto parts = estimates();
  const auto largest =
      std::max_element(parts.begin(), parts.end(),
                       [](const Estimate& a, const Estimate& b) { return a.loss < b.loss; });
  std::vector<int> result;
  if (largest == parts.end() || largest->loss <= worth(parts)) return result;
  for (int stage = largest->part.from + 1; stage <= largest->part.to; ++stage) {
    result.push_back(stage);
  }
  return result;
}

bool Plan::can_open(const Part& part) const {
  return std::any_of(options_.candidates.begin(), options_.candidates.end(),
                     [&](int k) { return k > part.from && k < part.to; });
}

double Plan::round_seconds() const {
  return round_seconds(boundaries_) + (live_twice() ? block_seconds(0) : 0);
}

double Plan::round_seconds(const std::vector<int>& boundaries) const {
  double seconds = 0;
  for (const int k : boundaries) seconds += block_seconds(k);
  return seconds * (1 + kNullShare);
}

}  // namespace cachebisect

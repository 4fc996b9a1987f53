#include "cachebisect/bisect/plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr double kBlockSeconds = 0.040;
constexpr int kLeastSteps = 3;
constexpr int kMostSteps = 100000;
constexpr double kRoundsThatMustFit = 15;
constexpr double kPilotShare = 0.25;
constexpr double kNullShare = 0.1;
/// Rounds before a verdict on which part is the largest is acted upon.
constexpr std::size_t kRoundsToTrust = 4;
constexpr std::size_t kRoundsToOpen = 3;
constexpr std::size_t kRoundsForStalls = 10;

void make_set(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
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
  boundaries_ = {0, options_.stages};
}

void Plan::set_pilot(int boundary, double step_seconds) {
  step_seconds_.at(at(boundary)) = std::max(step_seconds, 1e-9);
}

int Plan::steps(int boundary) const { return steps_for(step_seconds(boundary)); }

int Plan::steps_for(double step_seconds) {
  if (step_seconds <= 0) return kLeastSteps;
  return static_cast<int>(
      std::clamp<double>(std::ceil(kBlockSeconds / step_seconds), kLeastSteps, kMostSteps));
}

double Plan::block_seconds(int boundary) const {
  // An unknown boundary costs at most what live costs.
  const double own = step_seconds_.at(at(boundary));
  const double step = own > 0 ? own : step_seconds_.front();
  return (warmup_ + steps(own > 0 ? boundary : 0)) * step;
}

double Plan::pilot_loss() const {
  const double live = step_seconds_.front();
  return live > 0 ? 1 - step_seconds_.back() / live : 0;
}

std::vector<int> Plan::to_pilot(double seconds_left) const {
  std::vector<int> wanted;
  for (const int k : options_.candidates) {
    if (!piloted(k)) wanted.push_back(k);
  }
  if (wanted.empty() || options_.all) return wanted;
  const double fit = kPilotShare * seconds_left / std::max(1e-9, block_seconds(0));
  if (fit >= static_cast<double>(wanted.size())) return wanted;
  const auto count = static_cast<std::size_t>(std::max(0.0, fit));
  std::vector<int> spread;
  for (std::size_t i = 0; i < count; ++i) {
    spread.push_back(wanted[(2 * i + 1) * wanted.size() / (2 * count)]);
  }
  make_set(spread);
  return spread;
}

void Plan::look_at_loss() { boundaries_ = {0, options_.stages}; }

Part Plan::pilot_part(int from, int to) const {
  Part best{from, to};
  double largest = -1e300;
  int last = from;
  for (int k = from + 1; k <= to; ++k) {
    if (!piloted(k)) continue;
    const double drop = 1 - step_seconds_[at(k)] / step_seconds_[at(last)];
    if (drop > largest) {
      largest = drop;
      best = {last, k};
    }
    last = k;
  }
  return best;
}

void Plan::look_at_stages(double seconds_left) {
  stages_ = true;
  const bool known = std::all_of(options_.candidates.begin(), options_.candidates.end(),
                                 [&](int k) { return piloted(k); });
  if (options_.all ||
      (known && seconds_left >= kRoundsThatMustFit * round_seconds(options_.candidates))) {
    boundaries_ = options_.candidates;
    return;
  }
  const Part part = pilot_part(0, options_.stages);
  boundaries_ = {0, part.from, part.to, options_.stages};
  make_set(boundaries_);
}

std::vector<int> Plan::suspects() const {
  const Part part = pilot_part(0, options_.stages);
  std::vector<int> result;
  for (int stage = part.from + 1; stage <= part.to; ++stage) result.push_back(stage);
  return result;
}

bool Plan::can_open(const Part& part) const {
  return std::any_of(options_.candidates.begin(), options_.candidates.end(),
                     [&](int k) { return k > part.from && k < part.to; });
}

void Plan::open(const Part& part, std::vector<int>& boundaries) const {
  const Part inner = pilot_part(part.from, part.to);
  if (inner != part) {
    boundaries.push_back(inner.from);
    boundaries.push_back(inner.to);
    return;
  }
  const int middle = part.from + (part.to - part.from) / 2;
  std::optional<int> nearest;
  for (const int k : options_.candidates) {
    if (k <= part.from || k >= part.to) continue;
    if (!nearest || std::abs(k - middle) < std::abs(*nearest - middle)) nearest = k;
  }
  if (nearest) boundaries.push_back(*nearest);
}

void Plan::update(const Findings& findings, double seconds_left) {
  if (!stages_) {
    const Finding& whole = findings.whole;
    const double worth = 0.8 * options_.min_drop;
    const bool lost = whole.low > options_.min_drop ||
                      (whole.rounds >= kRoundsToOpen && whole.median_drop > worth) ||
                      (whole.rounds >= kRoundsForStalls && whole.bursty && whole.drop > worth);
    if (lost) look_at_stages(seconds_left);
    return;
  }
  if (options_.all) return;
  const double leading = findings.leader ? findings.parts[*findings.leader].low : options_.min_drop;
  const double bar = std::max(leading, options_.min_drop);
  std::vector<int> next{0, options_.stages};
  const Finding* largest = nullptr;
  for (const Finding& finding : findings.parts) {
    if (finding.high >= bar) {
      next.push_back(finding.part.from);
      next.push_back(finding.part.to);
    }
    if (largest == nullptr || finding.median_drop > largest->median_drop) largest = &finding;
  }
  if (largest != nullptr && largest->rounds >= kRoundsToTrust && can_open(largest->part) &&
      largest->high >= options_.min_drop && largest->median_drop > 0.5 * options_.min_drop) {
    open(largest->part, next);
  }
  make_set(next);
  boundaries_ = std::move(next);
}

double Plan::round_seconds() const { return round_seconds(boundaries_); }

double Plan::round_seconds(const std::vector<int>& boundaries) const {
  double seconds = 0;
  for (const int k : boundaries) seconds += block_seconds(k);
  return seconds * (1 + kNullShare);
}

}  // namespace cachebisect

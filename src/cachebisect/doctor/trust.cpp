#include "cachebisect/doctor/trust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/evidence/part_evidence.hpp"
#include "cachebisect/bisect/phases/round_arms.hpp"

namespace cachebisect {
namespace {

constexpr int kTrials = 20;
constexpr int kMustSucceed = 18;
/// More rounds would certify only drops too small to matter, and take long to simulate.
constexpr int kMaxRounds = 250;
/// No interval is printed narrower, so nothing smaller can be distinguished from no drop.
constexpr double kSmallest = 2 * kMinHalfWidth;
constexpr double kLargest = 0.6;

class NoiseSource {
 public:
  NoiseSource(std::span<const double> differences, int trial)
      : differences_(differences),
        random_({.seed = 1,
                 .index = static_cast<std::uint64_t>(trial),
                 .stage = hash_name("doctor-trust")}) {}

  /// The noise of one block: the difference of two varies twice as much.
  double next() {
    const double size = differences_[random_.below(differences_.size())] / std::numbers::sqrt2;
    return random_.uniform() < 0.5 ? size : -size;
  }

 private:
  std::span<const double> differences_;
  RandomStream random_;
};

/// Rounds until a drop is certified above `bar`, in super-rounds; more than `max`: max + 1.
int rounds_to_certify(NoiseSource noise, double drop, double bar, int max,
                      const TrustOptions& options) {
  RankSequence evidence(2 / ((1 - options.confidence) * kMainShare));
  for (int round = kUsualRepeats; round <= max; round += kUsualRepeats) {
    std::array<double, kUsualRepeats> slow{};
    std::array<double, kUsualRepeats> fast{};
    for (double& value : slow) value = drop_to_theta(drop) + noise.next();
    for (double& value : fast) value = noise.next();
    evidence.add(slow, fast);
    if (evidence.rejects_at_most(drop_to_theta(bar))) return round;
  }
  return max + 1;
}

std::vector<double> rounds_of_trials(std::span<const double> differences, double drop, double bar,
                                     int max, const TrustOptions& options) {
  std::vector<double> rounds;
  for (int trial = 0; trial < kTrials; ++trial) {
    const NoiseSource noise(differences, trial);
    rounds.push_back(rounds_to_certify(noise, drop, bar, max, options));
  }
  return rounds;
}

bool is_certified(std::span<const double> differences, double drop, int rounds,
                  const TrustOptions& options) {
  const auto needed = rounds_of_trials(differences, drop, 0, rounds, options);
  return std::count_if(needed.begin(), needed.end(), [&](double r) { return r <= rounds; }) >=
         kMustSucceed;
}

std::optional<double> smallest_drop(std::span<const double> differences, int rounds,
                                    const TrustOptions& options) {
  if (!is_certified(differences, kLargest, rounds, options)) return std::nullopt;
  double low = kSmallest;
  double high = kLargest;
  if (is_certified(differences, low, rounds, options)) return low;
  while (high / low > 1.05) {
    const double middle = std::sqrt(low * high);
    (is_certified(differences, middle, rounds, options) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Trust trust_in(std::span<const double> differences, const TrustOptions& options) {
  Trust trust;
  if (differences.size() < kMinDifferences || options.block_seconds <= 0) return trust;
  const double pilot = options.boundaries * options.block_seconds;
  const double round = pilot * (1 + kNullShare);
  const double fitting = (options.budget_seconds - pilot) / round;
  const int rounds = static_cast<int>(std::clamp<double>(fitting, 0, kMaxRounds));
  trust.smallest_drop = smallest_drop(differences, rounds, options);
  constexpr double kFifth = 0.2;
  const auto needed = rounds_of_trials(differences, kFifth, options.min_drop, kMaxRounds, options);
  const double typical = median(needed);
  const double seconds = pilot + typical * round;
  if (typical <= kMaxRounds && seconds <= 10 * options.budget_seconds) {
    trust.seconds_for_a_fifth = seconds;
  }
  return trust;
}

}  // namespace cachebisect

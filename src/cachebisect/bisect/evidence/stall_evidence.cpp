#include "cachebisect/bisect/evidence/stall_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Bets of equal weight: for stalls that cost little more than is tested, and for larger ones.
constexpr std::array kStallBets{1.0, 2.0};

/// Seconds per sample.
struct StallRound {
  double upstream = 0;
  double downstream = 0;
  double excess = 0;  ///< of upstream, made faster by the drop, over downstream
};

/// What earlier rounds say of the size of a stall.
class StallSize {
 public:
  void add(const StallRound& round) {
    const double difference = std::abs(round.upstream - round.downstream);
    sum_ += difference;
    squares_ += difference * difference;
    excess_ += round.excess;
    downstream_ += round.downstream;
    ++rounds_;
  }
  /// True if something seems to be lost so far.
  [[nodiscard]] bool seems_lost() const { return excess_ > 0; }
  /// Mean difference, each weighted by itself, so that few stalls outweigh many blocks without.
  [[nodiscard]] double size() const {
    return std::max(squares_ / sum_, kMostOf * downstream_ / rounds_);
  }

 private:
  double sum_ = 0;
  double squares_ = 0;
  double excess_ = 0;
  double downstream_ = 0;
  double rounds_ = 0;
};

std::vector<StallRound> stall_rounds(const RoundTable& rounds, int from, int to, double log_drop) {
  std::vector<StallRound> both;
  for (std::size_t round = 0; round < rounds.rounds(); ++round) {
    const auto upstream = rounds.log_tau(round, from);
    const auto downstream = rounds.log_tau(round, to);
    if (!upstream || !downstream) continue;
    both.push_back({std::exp(*upstream), std::exp(*downstream),
                    std::exp(*upstream - log_drop) - std::exp(*downstream)});
  }
  return both;
}

/// A share is kept back: one stall in the other arm does not end the bet.
double log_stall_factor(double bet, double excess, double size) {
  return std::log1p((1 - kNegligible) * std::tanh(bet * excess / size));
}

}  // namespace

double log_stall_evidence(const RoundTable& rounds, int from, int to, double log_drop) {
  StallSize earlier;
  std::array<double, kStallBets.size()> logs{};
  for (const StallRound& round : stall_rounds(rounds, from, to, log_drop)) {
    if (earlier.seems_lost()) {
      for (std::size_t b = 0; b < kStallBets.size(); ++b) {
        logs[b] += log_stall_factor(kStallBets[b], round.excess, earlier.size());
      }
    }
    earlier.add(round);
  }
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - most);
  return most + std::log(sum / static_cast<double>(kStallBets.size()));
}

double rounds_to_stall_evidence(double found, double needed, double rounds) {
  if (found > 1) return rounds * needed / found;
  // Evidence that has not grown is that of one stall at most.
  return rounds * needed / log_stall_factor(kStallBets.front(), 1, 1);
}

}  // namespace cachebisect

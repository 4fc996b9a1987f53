#include "cachebisect/bisect/evidence/rank_sequence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace cachebisect {
namespace {

/// A bet: f(U) = exp(tilt x the standardised U), or for kTop: 1 for the largest U, else 0, with a
/// reserve that is not staked.
struct Bet {
  double weight;  ///< share of the initial capital
  double tilt;
};
constexpr double kTop = 0;
/// One round against the top bet must not end it.
constexpr double kReserve = 0.1;
/// The top bet wins most where noise is small, the tilts where it is not: a tilt near the true
/// shift of U in standard deviations grows fastest (Kelly 1956).
constexpr std::array kBets{Bet{0.5, kTop}, Bet{0.2, 4}, Bet{0.1, 2}, Bet{0.1, 1}, Bet{0.1, 0.5}};

/// How many of the C(2m, m) ways give each U = 0..m*m: the Gaussian binomial coefficients.
std::vector<double> ways_by_u(int m) {
  std::vector<double> ways{1};
  for (int i = 1; i <= m; ++i) {
    // Times (1 - q^(m + i)) / (1 - q^i).
    std::vector<double> next(ways.size() + static_cast<std::size_t>(m), 0.0);
    for (std::size_t u = 0; u < next.size(); ++u) {
      const auto at = [&](const std::vector<double>& of, std::size_t back) {
        return u >= back && u - back < of.size() ? of[u - back] : 0.0;
      };
      const auto step = static_cast<std::size_t>(i);
      next[u] = at(ways, 0) - at(ways, step + static_cast<std::size_t>(m)) + at(next, step);
    }
    ways = std::move(next);
  }
  return ways;
}

/// The factor of each bet for each value of 2 U.
using Factors = std::array<std::vector<double>, kBets.size()>;

Factors factors_of(int m) {
  const std::vector<double> ways = ways_by_u(m);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const double pairs = static_cast<double>(m) * m;
  const double deviation = std::sqrt(pairs * (2 * m + 1) / 12);
  const auto f = [&](const Bet& bet, double u) {
    if (bet.tilt == kTop) return u >= pairs ? 1.0 : 0.0;
    return std::exp(bet.tilt * (u - pairs / 2) / deviation);
  };
  Factors factors;
  for (std::size_t b = 0; b < kBets.size(); ++b) {
    double mean = 0;
    for (std::size_t u = 0; u < ways.size(); ++u) {
      mean += ways[u] / all * f(kBets[b], static_cast<double>(u));
    }
    const double reserve = kBets[b].tilt == kTop ? kReserve : 0;
    for (int twice = 0; twice <= 2 * m * m; ++twice) {
      factors[b].push_back(reserve + (1 - reserve) * f(kBets[b], twice / 2.0) / mean);
    }
  }
  return factors;
}

const Factors& factors(int repeats) {
  static const std::array<Factors, kMaxRepeats> all{factors_of(1), factors_of(2), factors_of(3),
                                                    factors_of(4), factors_of(5), factors_of(6)};
  return all.at(static_cast<std::size_t>(repeats) - 1);
}

/// 2 U of the values `slow` - theta against `fast`.
int twice_u(std::span<const double> slow, std::span<const double> fast, double theta) {
  int count = 0;
  for (const double upper : slow) {
    for (const double lower : fast) {
      const double z = upper - theta - lower;
      count += z > 0 ? 2 : (z < 0 ? 0 : 1);
    }
  }
  return count;
}

}  // namespace

RankBets::RankBets() {
  capitals_.reserve(kBets.size());
  for (const Bet& bet : kBets) capitals_.push_back(bet.weight);
}

void RankBets::settle(int repeats, int twice_u) {
  const Factors& all = factors(repeats);
  for (std::size_t b = 0; b < kBets.size(); ++b) {
    capitals_[b] *= all[b].at(static_cast<std::size_t>(twice_u));
  }
}

double RankBets::capital() const noexcept {
  return std::accumulate(capitals_.begin(), capitals_.end(), 0.0);
}

void RankSequence::add(std::span<const double> slow, std::span<const double> fast) {
  if (slow.size() != fast.size() || slow.empty() || slow.size() > kMaxRepeats) {
    throw std::invalid_argument("a super-round has 1 to 6 blocks of each arm");
  }
  for (std::size_t i = 0; i < slow.size(); ++i) add_value(slow[i] - fast[i]);
  super_rounds_.push_back({{slow.begin(), slow.end()}, {fast.begin(), fast.end()}});
}

double RankSequence::running_maximum(double theta, double sign, double stop_at) const {
  RankBets bets;
  double best = 1;
  for (const SuperRound& round : super_rounds_) {
    const auto repeats = static_cast<int>(round.slow.size());
    const int above = twice_u(round.slow, round.fast, theta);
    bets.settle(repeats, sign > 0 ? above : 2 * repeats * repeats - above);
    best = std::max(best, bets.capital());
    if (best >= stop_at) break;
  }
  return best;
}

}  // namespace cachebisect

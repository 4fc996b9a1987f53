#include "cachebisect/bisect/record/boundary_levels.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

std::size_t at(int boundary) { return static_cast<std::size_t>(boundary); }

std::optional<double> median_loss(const RoundTable& rounds, int from, int to) {
  const std::vector<double> losses = rounds.log_ratios(from, to);
  return losses.empty() ? std::nullopt : std::optional(median(losses));
}

}  // namespace

std::vector<int> visited_boundaries(const RoundTable& rounds, int min_visits) {
  std::vector<int> result;
  for (int k = 0; k <= rounds.last(); ++k) {
    const int enough = k == 0 || k == rounds.last() ? 1 : min_visits;
    if (rounds.visits(k) >= enough) result.push_back(k);
  }
  return result;
}

std::pair<int, int> visited_around(const RoundTable& rounds, std::size_t round, int from, int to) {
  while (from > 0 && !rounds.visited_in(round, from)) --from;
  while (to < rounds.last() && !rounds.visited_in(round, to)) ++to;
  return {from, to};
}

std::vector<std::optional<double>> boundary_levels(const RoundTable& rounds) {
  const int n = rounds.last();
  std::vector<std::optional<double>> levels(at(n) + 1);
  levels.back() = 0;
  levels.front() = median_loss(rounds, 0, n).value_or(0);
  std::vector<int> order = visited_boundaries(rounds);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return rounds.visits(a) > rounds.visits(b); });
  for (const int k : order) {
    if (levels[at(k)]) continue;
    int before = k - 1;
    while (!levels[at(before)]) --before;
    int after = k + 1;
    while (!levels[at(after)]) ++after;
    const double span = *levels[at(before)] - *levels[at(after)];
    const auto upstream = median_loss(rounds, before, k);
    const auto downstream = median_loss(rounds, k, after);
    if (!upstream || !downstream) {
      levels[at(k)] = median_loss(rounds, k, n);
      continue;
    }
    const double misfit = span - *upstream - *downstream;
    levels[at(k)] = *levels[at(after)] + *downstream + 0.5 * misfit;
  }
  return levels;
}

double excess_of_mean(const RoundTable& rounds, int from, int to, double log_drop) {
  double sum = 0;
  double squares = 0;
  for (std::size_t round = 0; round < rounds.rounds(); ++round) {
    const auto upstream = rounds.log_tau(round, from);
    const auto downstream = rounds.log_tau(round, to);
    if (!upstream || !downstream) continue;
    const double excess = std::exp(*upstream - log_drop) - std::exp(*downstream);
    sum += excess;
    squares += excess * excess;
  }
  return squares > 0 ? sum / std::sqrt(squares) : 0;
}

}  // namespace cachebisect

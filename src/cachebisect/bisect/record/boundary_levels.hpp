// What the rounds of a table of boundaries say of the chain as a whole.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Boundaries visited in at least so many complete rounds, ascending; the first and the last if in
/// any at all.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<int> visited_boundaries(const RoundTable& rounds,
                                                                           int min_visits = 1);

/// The nearest boundaries that a round visited: at or before `from`, at or after `to`. Every round
/// visits the first and the last.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::pair<int, int> visited_around(const RoundTable& rounds,
                                                                          std::size_t round,
                                                                          int from, int to);

/// log tau(k) - log tau(n) of each boundary k; empty where it was not visited. Boundaries with
/// fewer rounds are fitted in between those with more, so that the losses of spans are kept.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::optional<double>> boundary_levels(
    const RoundTable& rounds);

/// How far the mean of tau(from) lies above exp(log_drop) times that of tau(to), over the rounds
/// that ran both, in standard errors: the self-normalised sum. It lies beyond x with a probability
/// of at most exp(-x^2 / 2) if `log_drop` is the centre of symmetric noise. 0 without such rounds.
[[nodiscard]] CACHEBISECT_INTERNAL_API double excess_of_mean(const RoundTable& rounds, int from,
                                                             int to, double log_drop);

}  // namespace cachebisect

// What a table of boundaries says about the chain as a whole.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Boundaries visited in at least `min_visits` complete rounds, ascending. For the first and the
/// last one visit is enough.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<int> visited_boundaries(const RoundTable& rounds,
                                                                           int min_visits = 1);

/// The nearest boundaries that a round visited: at or before `from`, at or after `to`. Every round
/// visits the first and the last.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::pair<int, int> visited_around(const RoundTable& rounds,
                                                                          std::size_t round,
                                                                          int from, int to);

/// log tau(k) - log tau(n) of each boundary k; empty if it was not visited. A boundary with fewer
/// visits is placed between its neighbours with more, so that the loss of a span stays the same
/// when it is opened.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::optional<double>> boundary_levels(
    const RoundTable& rounds);

/// How far the mean of tau(from) lies above exp(log_drop) times that of tau(to), in standard
/// errors, over the rounds that ran both: the self-normalised sum. If `log_drop` is the centre of
/// symmetric noise, it exceeds x with a probability of at most exp(-x^2 / 2). 0 without such
/// rounds.
[[nodiscard]] CACHEBISECT_INTERNAL_API double excess_of_mean(const RoundTable& rounds, int from,
                                                             int to, double log_drop);

}  // namespace cachebisect

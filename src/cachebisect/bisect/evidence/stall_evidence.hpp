// Evidence from the mean of rounds, for losses in stalls that most blocks do not meet.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Log of an e-value against "the mean of tau(from) is at most exp(log_drop) times that of
/// tau(to)": at most `alpha` of all runs ever reach log(1 / alpha) if that is true and the
/// excesses of single rounds are symmetric, or on average not positive with no large negative
/// ones. A product of bets 1 + 0.98 tanh(c x excess / size), in which `size`, and whether to bet at
/// all, depend on earlier rounds alone (Ville 1939; Waudby-Smith and Ramdas 2023, section 4). k
/// stalls of one size reach about 2^k. 0 without rounds that ran both.
[[nodiscard]] CACHEBISECT_INTERNAL_API double log_stall_evidence(const RoundTable& rounds, int from,
                                                                 int to, double log_drop);

/// About how many rounds it takes until this evidence, `found` after `rounds` of them, is `needed`,
/// if stalls go on as they were.
[[nodiscard]] CACHEBISECT_INTERNAL_API double rounds_to_stall_evidence(double found, double needed,
                                                                       double rounds);

}  // namespace cachebisect

// The truth of a chain that the law does not describe: a long measurement of all boundaries.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::truth {

/// Drops are medians over rounds, with 99% intervals of the median by order statistics.
struct ExhaustiveTruth {
  selftest::Truth truth;
  std::optional<double> contention;  ///< empty if the replayer has no shadow arm
  Interval contention_interval;
  int rounds = 0;
};

/// Runs all boundaries and the shadow in rounds of random order until `seconds` have passed, but at
/// least 10 rounds. The replayer must be prepared.
ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed);

}  // namespace cachebisect::truth

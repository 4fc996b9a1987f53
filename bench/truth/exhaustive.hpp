// The truth of a chain that no law describes: a long measurement of all boundaries.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::truth {

/// Drops are those of the median round, intervals at 99% of that median by order statistics.
struct ExhaustiveTruth {
  selftest::Truth truth;
  std::optional<double> contention;  ///< none where the replayer has no shadow arm
  Interval contention_interval;
  int rounds = 0;
};

/// All boundaries and the shadow in rounds of random order until `seconds` have passed, at least 10
/// rounds. The replayer must be prepared.
ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed);

}  // namespace cachebisect::truth

// The truth of a chain with a habit: what the sustained live loop loses to each stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::habits {

/// What a chain of real stages is fitted with to the machine.
struct Tuning {
  double step_ms = 0;
  double wait_us = 0;  ///< per sample; of the copy, per batch
};

struct HabitTruth {
  /// Drops have intervals: how exactly the plan or the measurement is known.
  selftest::Truth truth;
  /// By stage (0-based): the share of the live time that it costs, 1 - tau(without it) / tau.
  std::vector<double> payoffs;
  Tuning tuning;
};

/// A truth as one line of JSON without the newline, and back. `is_truth`: whether a line is one.
/// Throws Error(usage) for a line that is not.
std::string to_line(const HabitTruth& truth, const std::string& habit, std::uint64_t seed);
[[nodiscard]] bool is_truth(const std::string& line);
struct NamedTruth {
  std::string habit;
  std::uint64_t seed = 0;
  HabitTruth truth;
};
NamedTruth truth_of(const std::string& line);

/// Fills in drops, loss and the largest drop from truth.seconds_per_sample; drops are known to
/// +-slack.
void set_drops(selftest::Truth& truth, double slack);

}  // namespace cachebisect::habits

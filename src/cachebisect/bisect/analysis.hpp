// What follows from the measurements: pure functions, each figure once.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/explanation.hpp"
#include "cachebisect/bisect/analysis/sustained_runs.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// Everything that the report says beyond what was measured.
struct Analysis {
  VerdictState state;                ///< empty before the first complete round
  std::optional<Forecast> forecast;  ///< with the cost model, fitted once; empty if it cannot be
  Waterfall waterfall;
  SustainedFigures sustained;
  MachineReport machine;
  Explanation explanation;
  Verdict verdict;
  std::vector<WhatIfResult> what_ifs;
  std::vector<Remedy> remedies;
  std::vector<Warning> warnings;
};

/// The analysis of whatever was measured so far. Throws Error(usage) for a what-if that cannot be
/// parsed.
[[nodiscard]] CACHEBISECT_INTERNAL_API Analysis analyse(const Measurements& measured);

/// What-ifs and remedies that an arm can run, each arm once.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Arm> arms_to_verify(const Measurements& measured,
                                                                       const Analysis& analysis);

}  // namespace cachebisect

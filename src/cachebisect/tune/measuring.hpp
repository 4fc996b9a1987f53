// How tune() diagnoses a job, and compares two versions of it.
#pragma once

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/tune/subject.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// With predictions of other counts of workers. Throws as bisect() does, and Error(interrupted).
[[nodiscard]] Report diagnosed(Replayer& replayer, const Options& options, double budget_seconds);

/// In turns, until it is known well enough whether `other` gains. Throws as measure_pairs() does,
/// Error(data) if the budget ends before, and Error(interrupted).
[[nodiscard]] Comparison compared(Replayer& replayer, const PairedArm& now, const PairedArm& other,
                                  const Options& options, double budget_seconds);

}  // namespace cachebisect::tune

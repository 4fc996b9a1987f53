// Three ways to find the slow stage without this tool, run on the same chains.
#pragma once

#include <cstdint>
#include <string>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::truth {

enum class Method {
  bisect,    ///< cachebisect
  by_hand,   ///< one cached batch, 100 steps per boundary in order, no repeats
  averages,  ///< one average per boundary in order, of ten seconds or its share of the budget
  busiest,   ///< the stage with the most inline busy time in a live run
};
const char* to_string(Method method) noexcept;
/// Throws Error(usage) for any other word.
Method method_of(const std::string& text);

struct BaselineOptions {
  double budget_seconds = 60;
  double min_drop = 0.05;
  std::uint64_t seed = 1;
};

/// A report with verdict, stages and times, but without intervals. It names the stage with the
/// largest drop, or is flat if no drop reaches min_drop; `busiest` is flat if the training thread
/// starves for less than min_drop of the time. Inconclusive if the budget ends before every
/// boundary was measured.
Report run_baseline(Method method, Replayer& replayer, const BaselineOptions& options);

}  // namespace cachebisect::truth

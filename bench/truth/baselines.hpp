// What people do without this tool, run on the same chains: three ways to name the slow stage.
#pragma once

#include <cstdint>
#include <string>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::truth {

enum class Method {
  bisect,    ///< cachebisect
  by_hand,   ///< one cached batch, 100 steps a boundary in order, no repeats
  averages,  ///< one average of ten seconds, or of the budget's share, a boundary in order
  busiest,   ///< the stage with the most inline busy time in a live run
};
const char* to_string(Method method) noexcept;
/// Throws Error(usage) for a word that names no method.
Method method_of(const std::string& text);

struct BaselineOptions {
  double budget_seconds = 60;
  double min_drop = 0.05;
  std::uint64_t seed = 1;
};

/// A report with verdict, stages and times, and without intervals: the stage with the largest drop,
/// or flat where none reaches min_drop; busiest: flat where the training thread starves for less
/// than min_drop of the time. Inconclusive where the budget ends before every boundary was seen.
Report run_baseline(Method method, Replayer& replayer, const BaselineOptions& options);

}  // namespace cachebisect::truth

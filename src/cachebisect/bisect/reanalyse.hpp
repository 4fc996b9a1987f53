// A recorded run, analysed again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What to ask of a recording; empty: what the run was asked.
struct ReanalyseOptions {
  std::optional<double> min_drop{};
  std::optional<double> confidence{};
  std::optional<double> expect_samples_per_second{};
  std::optional<double> cost_per_hour{};
  std::vector<std::string> what_ifs{};  ///< predicted, in addition to those of the run
};

/// The report that the same measurements give now: the verdict, the costs, the advice. Timing and
/// what ended the run stay. Throws Error(usage) if the report has no recording, and for an option
/// out of range.
[[nodiscard]] CACHEBISECT_API Report reanalyse(const Report& report,
                                               const ReanalyseOptions& options = {});

}  // namespace cachebisect

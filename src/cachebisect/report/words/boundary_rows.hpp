// The rows of the table from the ceiling down to the live pipeline, for every writer that shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// A boundary that has an interval, or one of both ends, which are always there.
struct BoundaryRow {
  int boundary = 0;
  std::string label;           ///< "step alone (ceiling)", "+ crop, normalize", "+ read = live"
  std::optional<double> rate;  ///< samples/s; empty without an interval
  std::optional<Interval> interval;  ///< samples/s; empty if `rate` is
  std::optional<double> share;       ///< of the ceiling
  std::optional<double> drop;        ///< of the stages that join here, relative to the row above
  std::string note;                  ///< what a copy reaches: "35% of 25 GB/s"; may be empty
};

/// From the ceiling down to live; empty without boundaries.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<BoundaryRow> boundary_rows(const Report& report);

}  // namespace cachebisect

#include "cachebisect/report/words/boundary_rows.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

bool is_ceiling(const Report& report, std::size_t boundary) {
  return boundary + 1 >= report.boundaries.size();
}

bool has_row(const Report& report, std::size_t boundary) {
  return boundary == 0 || is_ceiling(report, boundary) ||
         report.boundaries[boundary].samples_per_second.interval;
}

// The row above, towards the device. The stages that join in a row lie between the two.
std::size_t row_above(const Report& report, std::size_t boundary) {
  std::size_t above = boundary + 1;
  while (!has_row(report, above)) ++above;
  return above;
}

// Samples/s of a row; empty without an interval. A row that is not certainly faster than the
// ceiling is at most as fast.
std::optional<double> row_rate(const Report& report, std::size_t boundary) {
  const Estimate& rate = report.boundaries[boundary].samples_per_second;
  if (!rate.value || !rate.interval) return std::nullopt;
  const double ceiling = report.ceiling.value.value_or(*rate.value);
  return rate.interval->low > ceiling ? *rate.value : std::min(*rate.value, ceiling);
}

std::string row_label(const Report& report, std::size_t boundary) {
  constexpr std::size_t kMaxNames = 3;
  if (is_ceiling(report, boundary)) return "step alone (ceiling)";
  const std::size_t above = std::min(row_above(report, boundary), report.stages.size());
  std::string names = "+ ";
  if (above - boundary <= kMaxNames) {
    for (std::size_t s = boundary; s < above; ++s) {
      names += (s > boundary ? ", " : "") + report.stages[s].name;
    }
  } else {
    names += report.stages[boundary].name + " ... " + report.stages[above - 1].name + " (" +
             std::to_string(above - boundary) + ")";
  }
  return boundary == 0 ? names + " = live" : names;
}

// The drop of the stages that join in this row.
std::optional<double> joined_drop(const Report& report, std::size_t boundary) {
  if (is_ceiling(report, boundary)) return std::nullopt;
  const auto rate = row_rate(report, boundary);
  const auto above = row_rate(report, row_above(report, boundary));
  return rate && above ? std::optional(1 - *rate / *above) : std::nullopt;
}

// What the copy that joins in this row reaches of the pinned peak; empty if it is unknown.
std::string copy_note(const Report& report, std::size_t boundary) {
  if (is_ceiling(report, boundary) || !report.chain.copy_gb_per_s) return "";
  const std::size_t above = std::min(row_above(report, boundary), report.stages.size());
  for (std::size_t s = boundary; s < above; ++s) {
    const StageReport& stage = report.stages[s];
    if (!stage.copy_share) continue;
    return format_percent(*stage.copy_share) + " of " + format_number(*report.chain.copy_gb_per_s) +
           " GB/s";
  }
  return "";
}

BoundaryRow row_of(const Report& report, std::size_t boundary) {
  BoundaryRow row;
  row.boundary = static_cast<int>(boundary);
  row.label = row_label(report, boundary);
  row.rate = row_rate(report, boundary);
  if (!row.rate) return row;
  row.interval = report.boundaries[boundary].samples_per_second.interval;
  if (report.ceiling.value && *report.ceiling.value > 0)
    row.share = *row.rate / *report.ceiling.value;
  row.drop = joined_drop(report, boundary);
  row.note = copy_note(report, boundary);
  return row;
}

}  // namespace

std::vector<BoundaryRow> boundary_rows(const Report& report) {
  std::vector<BoundaryRow> rows;
  for (std::size_t i = report.boundaries.size(); i-- > 0;) {
    if (has_row(report, i)) rows.push_back(row_of(report, i));
  }
  return rows;
}

}  // namespace cachebisect

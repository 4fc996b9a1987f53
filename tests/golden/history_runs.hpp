// Histories for the tests of their text and their page.
#pragma once

#include <string>

#include "golden/page_report.hpp"

#include "cachebisect/history/history.hpp"

namespace cachebisect::test {

inline Report run_of(const std::string& started, double live) {
  Report report = sample_report();
  report.started = started;
  report.live = estimate(live, live * 0.99, live * 1.01);
  return report;
}

/// Runs of a pipeline that becomes slower, and whose verdict changes on the way.
inline std::string slowing_runs(int runs) {
  std::string lines;
  for (int run = 0; run < runs; ++run) {
    const std::string day = std::to_string(10 + run % 20);
    Report report = run_of("2026-01-" + day + "T03:04:05Z", 2000.0 - 800.0 * run / runs);
    if (2 * run < runs) report.verdict.stage = "read";
    lines += history_line(report);
  }
  return lines;
}

/// Names that break a table or a page which does not guard against them.
inline std::string hostile_runs(int runs) {
  std::string lines;
  for (int run = 0; run < runs; ++run) {
    Report report = hostile_page_report();
    report.started = hostile_name(100);
    report.live = estimate(1000, 990, 1010);
    lines += history_line(report);
  }
  return lines;
}

}  // namespace cachebisect::test

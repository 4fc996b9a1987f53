// Compares two reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// A report and where it came from.
struct ReportSource {
  const Report* report = nullptr;
  std::string name;  ///< its file
};

struct CompareOptions {
  std::optional<double> confidence{};  ///< of the intervals of changes; empty: that of the reports
  bool force = false;                  ///< compare what is not comparable
  std::vector<std::string> gates{};    ///< "live<-5%" (gate.hpp)
};

/// Every figure of both reports, with the interval of its change from the blocks of both, the
/// findings in words and the gates. The two were measured in different sessions, and a gate that
/// would fire is undecided if either report warns of noise (docs/use/compare.md). Throws
/// Error(usage) if the two are not comparable and that was not forced, and for a gate that is not
/// one.
[[nodiscard]] CACHEBISECT_API Comparison compare(const ReportSource& a, const ReportSource& b,
                                                 const CompareOptions& options = {});

/// Why the figures of two reports cannot be compared: device, batch size, ... Empty: they can.
[[nodiscard]] CACHEBISECT_API std::vector<std::string> mismatches(const Report& a, const Report& b);

}  // namespace cachebisect

// A report whose texts are safe to print on a terminal.
#pragma once

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// The report with every text that may hold a path, a name or a message of the user's own code as
/// printable() returns it.
[[nodiscard]] Report printable_report(Report report);

}  // namespace cachebisect

// Numbers as sentences show them.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

/// "41%"; one decimal below 10%.
CACHEBISECT_API std::string percent(double share);
/// "38 to 44%".
CACHEBISECT_API std::string percent_range(const Interval& shares);
/// "12,345"; three significant digits below 100.
CACHEBISECT_API std::string rate(double per_second);
/// "350 ns", "1.2 us", "12 ms": of a sample or a batch.
CACHEBISECT_API std::string short_duration(double seconds);
/// "0.4 s", "12 s", "3 min".
CACHEBISECT_API std::string duration(double seconds);

}  // namespace cachebisect

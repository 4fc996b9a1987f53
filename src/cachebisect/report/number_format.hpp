// Numbers as people read them: to the digits that their interval supports.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "1,234" or "12.34": rounded to the last digit that an interval of this width still tells apart;
/// three significant digits without an interval.
CACHEBISECT_API std::string format_rate(double value, const std::optional<Interval>& interval);
/// "41%" or "0.4%": a share, with a decimal below 10%.
CACHEBISECT_API std::string format_percent(double share);
/// "38-44%": both ends with as many decimals as the width asks for.
CACHEBISECT_API std::string format_percent_interval(const Interval& interval);
/// "850 us", "12.3 ms", "4.2 s".
CACHEBISECT_API std::string format_seconds(double seconds);
/// "1.5 MB": decimal units.
CACHEBISECT_API std::string format_bytes(double bytes);

}  // namespace cachebisect

// Numbers as people read them, in the same notation whatever the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

// In tables: as many digits as the figure supports.

/// "1,234" or "12.34": rounded to the last digit that an interval of this width can tell apart;
/// three significant digits without an interval. "-" unless finite.
CACHEBISECT_INTERNAL_API std::string format_rate(double value,
                                                 const std::optional<Interval>& interval);
/// "41%" or "0.4%": a share, with one decimal below 10%; "0%" below 0.05%.
CACHEBISECT_INTERNAL_API std::string format_percent(double share);
/// "38-44%": both ends rounded outward, to as many decimals as the width supports.
CACHEBISECT_INTERNAL_API std::string format_percent_interval(const Interval& interval);
/// "1 tensor", "2 tensors".
CACHEBISECT_INTERNAL_API std::string counted(std::uint64_t count, const std::string& noun);
/// "850 us", "12.3 ms", "4.2 s".
CACHEBISECT_INTERNAL_API std::string format_seconds(double seconds);
/// "1.5 MB": decimal units.
CACHEBISECT_INTERNAL_API std::string format_bytes(double bytes);
/// "3.14", "128": three significant digits below 100, whole from there.
CACHEBISECT_INTERNAL_API std::string format_number(double value);
/// "12.50" with two decimals.
CACHEBISECT_INTERNAL_API std::string format_fixed(double value, int decimals);
/// "1,234,567".
CACHEBISECT_INTERNAL_API std::string format_count(std::uint64_t count);
/// "98", "1,234", "4.50", "0.004": an amount of money; whole from 10, else two decimals, or one
/// significant digit below a cent.
CACHEBISECT_INTERNAL_API std::string format_amount(double value);
/// "0.1", "1048576": the shortest text that reads back as the same number.
CACHEBISECT_INTERNAL_API std::string format_exact(double value);

// In sentences: as few digits as make the point.

/// "41%", with one decimal below 10%.
CACHEBISECT_INTERNAL_API std::string percent(double share);
/// "38 to 44%": both ends rounded outward, each with one decimal below 10%.
CACHEBISECT_INTERNAL_API std::string percent_range(const Interval& shares);
/// "44%", with one decimal below 10%: an upper bound, rounded up.
CACHEBISECT_INTERNAL_API std::string percent_at_most(double share);
/// "12,345"; three significant digits below 100.
CACHEBISECT_INTERNAL_API std::string rate(double per_second);
/// "350 ns", "1.2 us", "12 ms": for one sample or batch.
CACHEBISECT_INTERNAL_API std::string short_duration(double seconds);
/// "0.4 s", "12 s", "3 min": rounded up from 10 s.
CACHEBISECT_INTERNAL_API std::string duration(double seconds);

}  // namespace cachebisect

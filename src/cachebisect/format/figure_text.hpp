// Figures with their intervals, as text.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// "4,480 - 4,560": both ends to the digits that their distance supports.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string rate_interval(const Interval& interval,
                                                                 std::string_view between = " - ");
/// "4,520 (4,480 - 4,560)"; without parentheses if there is no interval, "-" if it is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string rate_with_interval(
    const Estimate& rate, std::string_view between = " - ");

/// "41% (38 to 44%)", likewise.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string share_with_interval(const Estimate& share);

}  // namespace cachebisect

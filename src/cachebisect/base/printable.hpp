// Text that may contain names from disk or messages from libraries, made safe to print.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// One line of well-formed UTF-8: control characters (also U+0080 to U+009F, which some terminals
/// obey) and bytes that are not UTF-8 become \xNN, a line break \n. Other characters stay.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string printable(std::string_view text);

}  // namespace cachebisect

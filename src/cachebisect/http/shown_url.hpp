// URLs as messages show them.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Without user, password, query and fragment, which may be secrets.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shown_url(const std::string& url);

}  // namespace cachebisect

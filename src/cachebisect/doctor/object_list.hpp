// The objects that the user names: URLs, and files of URLs.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// URLs of `named`, in order; @FILE stands for the lines of that file, without empty ones and those
/// that begin with #. Throws Error(usage) that names what is no URL of http or https.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> list_objects(
    const std::vector<std::string>& named);

}  // namespace cachebisect

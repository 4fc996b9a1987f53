// Quantities as users type them: "5%", "0.05", "2GB", "25%".
#pragma once

#include <string>

namespace cachebisect::cli {

/// A share in (0, 1): "5%" or "0.05". Throws Error(usage) naming the option.
double parse_share(const std::string& option, const std::string& text);

/// Bytes: "2GB", "512MiB", "1000000", or a percentage of `whole`. Throws Error(usage) naming the
/// option.
double parse_bytes(const std::string& option, const std::string& text, double whole);

}  // namespace cachebisect::cli

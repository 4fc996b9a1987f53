// SHA-256 (FIPS 180-4), to say exactly which pipeline file a report is about.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
CACHEBISECT_API std::string sha256_hex(std::string_view bytes);

}  // namespace cachebisect

// SHA-256 (FIPS 180-4), to identify the pipeline file of a report.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
CACHEBISECT_INTERNAL_API std::string sha256_hex(std::string_view bytes);

}  // namespace cachebisect

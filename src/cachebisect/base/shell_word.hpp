// Words of a command line.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The word as a shell reads it: quoted if it has characters that mean something to it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shell_word(const std::string& word);

}  // namespace cachebisect

// The ladder of tune(): what was tried, predicted, measured and kept.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/text_options.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// For a terminal.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const Result& result,
                                                           const TextOptions& options);

}  // namespace cachebisect::tune

// Tiles of figures with intervals. Without an interval no figure is shown, as in the tables.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect::document {

/// In samples/s.
[[nodiscard]] CACHEBISECT_INTERNAL_API Tile rate_tile(std::string term, const Estimate& rate);
/// `of` says what it is a share of: "of the ceiling".
[[nodiscard]] CACHEBISECT_INTERNAL_API Tile share_tile(std::string term, const Estimate& share,
                                                       std::string_view of);

}  // namespace cachebisect::document

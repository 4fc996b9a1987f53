// The figures that a page shows first, each on a tile.
#pragma once

#include <string_view>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// `detail` stands below the figure, in smaller type.
[[nodiscard]] Html tile(std::string_view term, const Html& figure, std::string_view detail = {});
/// In samples/s. Without an interval no figure is shown, as in the tables.
[[nodiscard]] Html rate_tile(std::string_view term, const Estimate& rate);
/// Likewise; `of` says what it is a share of: "of the ceiling".
[[nodiscard]] Html share_tile(std::string_view term, const Estimate& share, std::string_view of);
/// All tiles in a row.
[[nodiscard]] Html tiles(const Html& all);

}  // namespace cachebisect::html

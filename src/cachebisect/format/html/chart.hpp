// A chart of the page: its data as JSON, which page.js draws.
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// False in a build without the library that draws them; the tables then stand alone.
[[nodiscard]] bool has_charts() noexcept;

/// Empty in a build without charts. `kind` is a function of page.js; `rows` sets the height;
/// `label` says what there is to see, and where the same figures stand as text.
[[nodiscard]] Html chart(std::string_view kind, std::size_t rows, std::string_view label,
                         const nlohmann::ordered_json& data);

/// {"label", "value", "low", "high", "text"}: what a bar or a point shows.
[[nodiscard]] nlohmann::ordered_json chart_value(std::string_view label, const Estimate& estimate,
                                                 std::string_view text);

/// The library, its notice and what draws with it: script elements for the end of the page.
[[nodiscard]] Html chart_scripts();

}  // namespace cachebisect::html

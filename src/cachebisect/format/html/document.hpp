// What every page has around its content: title, styles, scripts, and the rule that nothing is
// loaded from anywhere.
#pragma once

#include <cstddef>
#include <string_view>

#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// The most bytes of a whole page, so that it can be attached to an issue or sent by mail.
inline constexpr std::size_t kMaxPageBytes = 600'000;

/// Up to the start of the body. `kind` follows the name in the title; `skip` is the link to the
/// main part.
[[nodiscard]] Html document_start(std::string_view name, std::string_view kind,
                                  std::string_view skip);
/// Above the main part: what tool and what kind of page, its name, and what else is known.
[[nodiscard]] Html document_header(std::string_view kind, const Html& name, const Html& more);
/// The main part.
[[nodiscard]] Html document_main(const Html& content);
/// From the main part to the end.
[[nodiscard]] Html document_end();

}  // namespace cachebisect::html

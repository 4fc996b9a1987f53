// The renderers of documents. Each escapes every text for its format, so that no name in it acts as
// an escape sequence, a line break or markup.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/document/document.hpp"
#include "cachebisect/format/html/html_text.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

/// As wide as the terminal; sentences are wrapped, tables fitted. Each line as printable() writes
/// it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const Document& document,
                                                           const TextOptions& options);
/// CommonMark with the tables of GitHub; an empty line between blocks.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_markdown(const Document& document);
/// The content of a section of a page.
[[nodiscard]] CACHEBISECT_INTERNAL_API html::Html to_html(const Document& document);

}  // namespace cachebisect

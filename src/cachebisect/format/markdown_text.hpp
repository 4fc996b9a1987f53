// Texts of Markdown documents (CommonMark with the tables of GitHub), in which nothing that a name
// or a message contains acts as markup.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A table cell: one line of printable(), with markup escaped, cut after 120 characters. Line
/// breaks become spaces. Empty stays empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string markdown_cell(std::string_view text);
/// A paragraph or the text of a list item: as a cell, but cut after 2,000 characters and with what
/// is markup at the start of a line escaped too.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string markdown_text(std::string_view text);
/// As markdown_text(), of what follows other words in a line.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string markdown_inline(std::string_view text);
/// A fenced block of `code`, line by line as printable() returns it. The fence is longer than any
/// row of backticks in it. Ends in a newline.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string markdown_code_block(std::string_view code,
                                                                       std::string_view language);

}  // namespace cachebisect

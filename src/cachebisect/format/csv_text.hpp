// Cells and rows of CSV files (RFC 4180), safe to open in a spreadsheet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A cell of text as printable() returns it, quoted where RFC 4180 asks for quotes. A text that a
/// spreadsheet would run as a formula (it begins with = + - @ or a tab) gets an apostrophe in front
/// (OWASP, "CSV Injection").
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string csv_text(std::string_view text);
/// A cell with the shortest text that reads back as the same number; empty for one that is unknown
/// or not finite.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string csv_number(const std::optional<double>& value);
/// Joins finished cells to a row, which ends in CR LF.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string csv_row(const std::vector<std::string>& cells);

}  // namespace cachebisect

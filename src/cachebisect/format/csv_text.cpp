#include "cachebisect/format/csv_text.hpp"

#include <cmath>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

bool is_formula(std::string_view text) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  return !text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos;
}

bool needs_quotes(std::string_view cell) {
  return cell.find_first_of("\",\r\n") != std::string_view::npos || cell.starts_with(' ') ||
         cell.ends_with(' ');
}

std::string quoted_cell(std::string_view cell) {
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string csv_text(std::string_view text) {
  const std::string cell = (is_formula(text) ? "'" : "") + printable(text);
  return needs_quotes(cell) ? quoted_cell(cell) : cell;
}

std::string csv_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? format_exact(*value) : "";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) {
    if (&cell != cells.data()) row += ',';
    row += cell;
  }
  return row + "\r\n";
}

}  // namespace cachebisect

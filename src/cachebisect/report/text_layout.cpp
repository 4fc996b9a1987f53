#include "cachebisect/report/text_layout.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return align == Align::left ? cell + space : space + cell;
}

std::string trimmed(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return width;
}

std::string wrap(std::string_view text, int columns, int indent) {
  std::string out;
  std::size_t line_width = 0;
  std::size_t leading = text.find_first_not_of(' ');
  if (leading == std::string_view::npos) return "\n";
  out.append(leading, ' ');
  line_width = leading;
  bool first = true;
  while (leading < text.size()) {
    const std::size_t end = std::min(text.find(' ', leading), text.size());
    const std::string_view word = text.substr(leading, end - leading);
    const std::size_t width = display_width(word);
    if (!first && line_width + 1 + width > static_cast<std::size_t>(columns)) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      line_width = static_cast<std::size_t>(indent);
    } else if (!first) {
      out += ' ';
      ++line_width;
    }
    out += word;
    line_width += width;
    first = false;
    leading = text.find_first_not_of(' ', end);
  }
  return out + '\n';
}

std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  if (text.back() != '.') text += '.';
  return text;
}

std::string TextPaint::painted(std::string_view text, std::string_view code) const {
  if (!color_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string TextTable::to_text(const TextPaint& paint) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string head;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    head += (c > 0 ? "  " : "") + padded(columns_[c].title, widths[c], columns_[c].align);
  }
  std::string text = paint.dim(trimmed(head)) + "\n";
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      line += (c > 0 ? "  " : "") + padded(row[c], widths[c], columns_[c].align);
    }
    text += trimmed(line) + "\n";
  }
  return text;
}

}  // namespace cachebisect

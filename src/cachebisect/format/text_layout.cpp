#include "cachebisect/format/text_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cachebisect/base/utf8.hpp"
#include "cachebisect/format/character_width.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kGap = 2;           ///< between the columns of a table
constexpr std::size_t kLeastColumns = 8;  ///< of a clipped column

constexpr std::string_view kEndOfColor = "\x1b[0m";

/// Whether a byte of UTF-8 text comes after the first one of its character.
bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// What a terminal shows in one go: a character, or an escape sequence, which takes no columns.
struct Glyph {
  std::string_view text;
  std::size_t columns = 0;
};

Glyph first_glyph(std::string_view text) {
  if (text.front() == '\x1b') {
    const std::size_t end = text.find('m');
    return {text.substr(0, end == std::string_view::npos ? end : end + 1), 0};
  }
  const std::string_view character = text.substr(0, std::max<std::size_t>(1, utf8_length(text, 0)));
  return {character, character_columns(character)};
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return align == Align::left ? cell + space : space + cell;
}

std::string trimmed(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

/// The longest beginning that fits.
std::string_view beginning(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Glyph glyph = first_glyph(text.substr(end));
    if (used + glyph.columns > columns) break;
    used += glyph.columns;
    end += glyph.text.size();
  }
  return text.substr(0, end);
}

/// The longest end that fits.
std::string_view ending(std::string_view text, std::size_t columns) {
  std::size_t begin = text.size();
  for (std::size_t i = begin; i > 0;) {
    do {
      --i;
    } while (i > 0 && is_inside_character(text[i]));
    if (display_width(text.substr(i)) > columns) break;
    begin = i;
  }
  return text.substr(begin);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool is_count(std::string_view word) {
  return word.size() > 2 && word.front() == '(' && word.back() == ')' &&
         word.find_first_not_of("0123456789") == 0 &&
         word.find_first_not_of("0123456789", 1) == word.size() - 1;
}

/// True for words that stand between names, or say how many there are.
bool is_glue(std::string_view word) {
  return word == "+" || word == "..." || word == "=" || word == "live" || is_count(word);
}

/// The longest word that is neither glue nor the first of a name; words.size() if there is none.
std::size_t longest_detail(const std::vector<std::string>& words) {
  std::size_t longest = words.size();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool begins_name = is_glue(words[i - 1]) || words[i - 1].back() == ',';
    if (begins_name || is_glue(words[i])) continue;
    if (longest == words.size() || words[i].size() > words[longest].size()) longest = i;
  }
  return longest;
}

/// Lines of words, as long as the terminal is wide.
class Paragraph {
 public:
  Paragraph(std::size_t columns, std::size_t indent)
      : columns_(std::max(columns, indent + 2)), indent_(indent) {}

  void add_spaces(std::size_t count) {
    text_.append(count, ' ');
    used_ += count;
  }
  void add_word(std::string_view word) {
    std::size_t width = display_width(word);
    if (!first_ && used_ + 1 + width > columns_) {
      break_line();
    } else if (!first_) {
      add_spaces(1);
    }
    for (; used_ + width > columns_; width = display_width(word)) {
      const std::string_view part = beginning(word, columns_ - used_);
      text_ += part;
      word.remove_prefix(part.size());
      break_line();
    }
    text_ += word;
    used_ += width;
    first_ = false;
  }
  [[nodiscard]] std::string text() const { return text_ + '\n'; }

 private:
  void break_line() {
    text_ += '\n';
    used_ = 0;
    add_spaces(indent_);
  }

  std::size_t columns_;
  std::size_t indent_;
  std::string text_;
  std::size_t used_ = 0;
  bool first_ = true;
};

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    width += glyph.columns;
    text.remove_prefix(glyph.text.size());
  }
  return width;
}

std::string fitted(std::string_view names, std::size_t columns) {
  if (display_width(names) <= columns) return std::string(names);
  std::vector<std::string> words = words_of(names);
  while (display_width(joined(words)) > columns) {
    const std::size_t detail = longest_detail(words);
    if (detail == words.size()) break;
    if (words[detail].back() == ',') words[detail - 1] += ',';
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(detail));
  }
  return joined(words);
}

std::string clipped(std::string_view text, std::size_t columns, std::string_view mark) {
  if (display_width(text) <= columns) return std::string(text);
  const std::size_t left = columns - std::min(columns, display_width(mark));
  const bool colored = text.find('\x1b') != std::string_view::npos;
  const std::string_view tail = colored ? std::string_view() : ending(text, left / 3);
  return std::string(beginning(text, left - display_width(tail))) + std::string(mark) +
         std::string(colored ? kEndOfColor : tail);
}

std::string wrap(std::string_view text, int columns, int indent) {
  std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "\n";
  Paragraph paragraph(static_cast<std::size_t>(columns), static_cast<std::size_t>(indent));
  paragraph.add_spaces(begin);
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    paragraph.add_word(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return paragraph.text();
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
  return "\x1b[" + std::string(code) + "m" + std::string(text) + std::string(kEndOfColor);
}

std::string TextPaint::bar(double share, int columns) const {
  constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * columns;
  std::string text;
  if (charset_ == Charset::ascii) {
    text.assign(static_cast<std::size_t>(std::lround(filled)), '#');
    return text;
  }
  const auto eighths = static_cast<std::size_t>(std::lround(8 * filled));
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths.at(eighths % 8);
}

std::string_view TextPaint::dash() const { return charset_ == Charset::ascii ? " - " : " – "; }

std::string_view TextPaint::ellipsis() const { return charset_ == Charset::ascii ? "..." : "…"; }

TextTable::Widths TextTable::widths(std::size_t columns) const {
  Widths widths;
  std::size_t whole = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
    whole += width + (c > 0 ? kGap : 0);
  }
  while (columns > 0 && whole > columns) {
    const std::size_t widest = widest_left(widths);
    if (widths[widest] <= std::max(kLeastColumns, display_width(columns_[widest].title))) break;
    --widths[widest];
    --whole;
  }
  return widths;
}

int TextTable::width() const {
  std::size_t whole = 0;
  for (const std::size_t width : widths(0)) whole += width + (whole > 0 ? kGap : 0);
  return static_cast<int>(whole);
}

/// The widest column that begins at the left; the first one if there is none.
std::size_t TextTable::widest_left(const Widths& widths) const {
  std::size_t widest = 0;
  for (std::size_t c = 1; c < columns_.size(); ++c) {
    if (columns_[c].align == Align::left && widths[c] > widths[widest]) widest = c;
  }
  return widest;
}

std::string TextTable::line(const std::vector<std::string>& cells, const Widths& widths,
                            const TextPaint& paint) const {
  std::string text;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::string whole = columns_[c].names ? fitted(cells[c], widths[c]) : cells[c];
    const std::string cell = clipped(whole, widths[c], paint.ellipsis());
    text += (c > 0 ? std::string(kGap, ' ') : "") + padded(cell, widths[c], columns_[c].align);
  }
  return trimmed(text);
}

std::string TextTable::to_text(const TextPaint& paint, int columns) const {
  const Widths all = widths(static_cast<std::size_t>(columns));
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = paint.dim(line(titles, all, paint)) + "\n";
  for (const auto& row : rows_) text += line(row, all, paint) + "\n";
  return text;
}

}  // namespace cachebisect

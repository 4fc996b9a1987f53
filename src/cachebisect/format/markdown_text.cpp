#include "cachebisect/format/markdown_text.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/utf8.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kCellCharacters = 120;
constexpr std::size_t kTextCharacters = 2000;
constexpr std::string_view kShortened = "\u2026";
/// Keeps GitHub from turning "@name" into a message to somebody and "#12" into a link to an issue.
constexpr std::string_view kZeroWidthSpace = "\u200b";

bool is_line_break(char c) { return c == '\n' || c == '\r'; }

/// Any character beyond ASCII counts as one.
bool is_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_word(char c) { return is_letter(c) || c == '_'; }

/// Without line breaks at the ends; those within become one space each.
std::string one_line(std::string_view text) {
  while (!text.empty() && is_line_break(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_line_break(text.front())) text.remove_prefix(1);
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool within_break = is_line_break(text[i]) && i > 0 && is_line_break(text[i - 1]);
    if (!within_break) line += is_line_break(text[i]) ? ' ' : text[i];
  }
  return printable(line);
}

/// At most `characters` of well-formed UTF-8.
std::string cut(const std::string& text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t count = 0; count < characters && at < text.size(); ++count) {
    at += std::max<std::size_t>(utf8_length(text, at), 1);
  }
  return at < text.size() ? text.substr(0, at) + std::string(kShortened) : text;
}

/// Within a word an underscore is no markup (CommonMark 0.31, 6.2).
bool within_word(const std::string& text, std::size_t i) {
  return i > 0 && i + 1 < text.size() && is_letter(text[i - 1]) && is_letter(text[i + 1]);
}

/// ASCII punctuation may be escaped by a backslash anywhere (CommonMark 0.31, 2.4).
std::string escaped(const std::string& text) {
  constexpr std::string_view kMarkup = "\\`*_|<>&[]~$";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool plain = c == '_' && within_word(text, i);
    if (!plain && kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
    const bool begins_word = i == 0 || !is_word(text[i - 1]);
    if ((c == '@' || c == '#') && begins_word && i + 1 < text.size() && is_word(text[i + 1])) {
      out += kZeroWidthSpace;
    }
  }
  return out;
}

/// Characters that are markup at the start of a line only.
std::string with_plain_start(std::string text) {
  constexpr std::string_view kBlocks = "#+-=:";
  if (!text.empty() && kBlocks.find(text.front()) != std::string_view::npos) text.insert(0, "\\");
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool list = digits != std::string::npos && digits > 0 &&
                    (text[digits] == '.' || text[digits] == ')') &&
                    (digits + 1 == text.size() || text[digits + 1] == ' ');
  if (list) text.insert(digits, "\\");
  return text;
}

std::string inline_text(std::string_view text, std::size_t characters) {
  return escaped(cut(one_line(text), characters));
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_cell(std::string_view text) { return inline_text(text, kCellCharacters); }

std::string markdown_text(std::string_view text) { return with_plain_start(markdown_inline(text)); }

std::string markdown_inline(std::string_view text) { return inline_text(text, kTextCharacters); }

std::string markdown_code_block(std::string_view code, std::string_view language) {
  constexpr std::size_t kShortestFence = 3;
  const std::string fence(std::max(kShortestFence, longest_run_of_backticks(code) + 1), '`');
  std::string block = fence + std::string(language) + '\n';
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    block += printable(code.substr(0, end)) + '\n';
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return block + fence + '\n';
}

}  // namespace cachebisect

// Laying out text for a terminal: tables, wrapping, colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Terminal columns that a text takes: its UTF-8 code points, without escape sequences.
CACHEBISECT_INTERNAL_API std::size_t display_width(std::string_view text) noexcept;
/// Wraps words at `columns` and indents all lines after the first. Ends in a newline.
CACHEBISECT_INTERNAL_API std::string wrap(std::string_view text, int columns, int indent);

/// `text` with its first letter capitalised and a full stop at the end.
CACHEBISECT_INTERNAL_API std::string as_sentence(std::string text);

/// Adds ANSI colours to text, or leaves it unchanged.
class CACHEBISECT_INTERNAL_API TextPaint {
 public:
  explicit TextPaint(bool color) : color_(color) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return painted(text, "1"); }
  [[nodiscard]] std::string dim(std::string_view text) const { return painted(text, "2"); }
  [[nodiscard]] std::string loss(std::string_view text) const { return painted(text, "31"); }
  [[nodiscard]] std::string warning(std::string_view text) const { return painted(text, "33"); }

 private:
  [[nodiscard]] std::string painted(std::string_view text, std::string_view code) const;
  bool color_;
};

enum class Align { left, right };

/// A table whose columns are as wide as their widest cell, two spaces apart.
class CACHEBISECT_INTERNAL_API TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string to_text(const TextPaint& paint) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cachebisect

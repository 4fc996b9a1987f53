// Laying out text for a terminal: tables, wrapping, colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Terminal columns that a text takes, without escape sequences; wide characters take two.
CACHEBISECT_INTERNAL_API std::size_t display_width(std::string_view text) noexcept;
/// Names of stages without what stands behind the first word of a name, the longest first, until
/// they take at most so many columns: "+ read ... transforms[1] (3)" of "+ read A.__getitem__ ...
/// transforms[1] Normalize (3)". They may still take more.
CACHEBISECT_INTERNAL_API std::string fitted(std::string_view names, std::size_t columns);
/// The text, or its beginning and end with `mark` between them if it takes more columns than these;
/// of a text with escape sequences, the beginning alone.
CACHEBISECT_INTERNAL_API std::string clipped(std::string_view text, std::size_t columns,
                                             std::string_view mark = "...");
/// Wraps words at `columns` and indents all lines after the first; words longer than a line are
/// broken. Ends in a newline.
CACHEBISECT_INTERNAL_API std::string wrap(std::string_view text, int columns, int indent);

/// `text` with its first letter capitalised and a full stop at the end.
CACHEBISECT_INTERNAL_API std::string as_sentence(std::string text);

enum class Charset { ascii, unicode };

/// Colours, bars and marks as the terminal can show them. Colour never says what the text does not:
/// vermilion and blue differ for people with any colour vision, on light and dark backgrounds.
class CACHEBISECT_INTERNAL_API TextPaint {
 public:
  explicit TextPaint(bool color, Charset charset = Charset::ascii)
      : color_(color), charset_(charset) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return painted(text, "1"); }
  [[nodiscard]] std::string dim(std::string_view text) const { return painted(text, "2"); }
  [[nodiscard]] std::string loss(std::string_view text) const { return painted(text, "38;5;166"); }
  [[nodiscard]] std::string warning(std::string_view text) const {
    return painted(text, "38;5;32");
  }
  /// A bar of `share` of these columns; empty for a share that is too small to draw.
  [[nodiscard]] std::string bar(double share, int columns) const;
  /// Between the ends of an interval: " - ".
  [[nodiscard]] std::string_view dash() const;
  /// For what is left out: "...".
  [[nodiscard]] std::string_view ellipsis() const;

 private:
  [[nodiscard]] std::string painted(std::string_view text, std::string_view code) const;
  bool color_;
  Charset charset_;
};

enum class Align { left, right };

/// A table whose columns are as wide as their widest cell, two spaces apart. If that is wider than
/// the terminal, the widest columns that begin at the left are clipped.
class CACHEBISECT_INTERNAL_API TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    bool names = false;  ///< cells name stages: fitted() before they are clipped
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// `columns` of the terminal; 0: as many as it takes.
  [[nodiscard]] std::string to_text(const TextPaint& paint, int columns = 0) const;
  /// Columns that it takes unclipped.
  [[nodiscard]] int width() const;

 private:
  using Widths = std::vector<std::size_t>;
  [[nodiscard]] Widths widths(std::size_t columns) const;
  [[nodiscard]] std::size_t widest_left(const Widths& widths) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const Widths& widths,
                                 const TextPaint& paint) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cachebisect

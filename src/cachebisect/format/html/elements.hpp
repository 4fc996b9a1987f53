// The elements that the sections of the page are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/html/html_text.hpp"

namespace cachebisect::html {

/// A part of the page under a heading of its own.
[[nodiscard]] Html section(std::string_view id, std::string_view heading, const Html& content);
[[nodiscard]] Html section(std::string_view id, const Html& heading, const Html& content);

[[nodiscard]] Html paragraph(std::string_view text);
/// For a remark on what is above it.
[[nodiscard]] Html note(std::string_view words);
/// The name of a stage, a file, a setting: short, and apart from the text around it.
[[nodiscard]] Html name(std::string_view name);
/// A figure in a cell; words in its place, such as kNotMeasured, are dimmed.
[[nodiscard]] Html figure(std::string_view figure);
/// Text to copy, with a button.
[[nodiscard]] Html copyable(std::string_view copied, std::string_view button = "Copy");

/// Terms and what they stand for; the values are text.
class CACHEBISECT_INTERNAL_API Facts {
 public:
  void add(std::string_view term, std::string_view value);
  [[nodiscard]] Html html() const;

 private:
  Html rows_;
};

/// A table with a caption, headings for its columns and rows, and a scroll bar of its own.
class CACHEBISECT_INTERNAL_API Table {
 public:
  /// `columns` holds the headings; all but the first are numbers unless they begin with "<".
  Table(std::string_view caption, const std::vector<std::string_view>& columns);
  /// The first cell is the row's heading.
  void add(const std::vector<Html>& cells);
  [[nodiscard]] Html html() const;

 private:
  std::string caption_;
  std::vector<bool> left_;
  Html head_;
  Html rows_;
};

}  // namespace cachebisect::html

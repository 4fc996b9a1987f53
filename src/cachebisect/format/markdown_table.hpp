// Tables of Markdown (GitHub Flavored Markdown, 4.10).
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {

/// A table of any texts: each cell is written as markdown_cell() returns it.
class CACHEBISECT_INTERNAL_API MarkdownTable {
 public:
  explicit MarkdownTable(const std::vector<TextTable::Column>& columns);
  /// One cell for each column.
  void add(const std::vector<std::string>& row);
  /// Ends in a newline; empty without rows.
  [[nodiscard]] std::string to_text() const;

 private:
  std::string head_;
  std::string rows_;
};

}  // namespace cachebisect

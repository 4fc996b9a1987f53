#include "cachebisect/format/markdown_table.hpp"

#include "cachebisect/format/markdown_text.hpp"

namespace cachebisect {
namespace {

std::string row_text(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += ' ' + markdown_cell(cell) + " |";
  return text + '\n';
}

}  // namespace

MarkdownTable::MarkdownTable(const std::vector<TextTable::Column>& columns) {
  std::vector<std::string> titles;
  std::string rule = "|";
  for (const TextTable::Column& column : columns) {
    titles.push_back(column.title);
    rule += column.align == Align::right ? "--:|" : "---|";
  }
  head_ = row_text(titles) + rule + '\n';
}

void MarkdownTable::add(const std::vector<std::string>& row) { rows_ += row_text(row); }

std::string MarkdownTable::to_text() const { return rows_.empty() ? "" : head_ + rows_; }

}  // namespace cachebisect

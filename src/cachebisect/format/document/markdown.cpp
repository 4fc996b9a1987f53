// Documents as Markdown.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/markdown_text.hpp"

namespace cachebisect::document {
namespace {

std::string inline_markdown(const Text& text) {
  std::string out;
  for (const Part& part : text.parts()) {
    if (part.mark == Mark::strong || part.mark == Mark::warning) {
      out += "**" + markdown_text(part.text) + "**";
    } else if (part.mark == Mark::dash) {
      out += " - ";
    } else {
      if (part.mark == Mark::below) out += ' ';
      out += out.empty() ? markdown_text(part.text) : markdown_inline(part.text);
    }
  }
  return out;
}

/// Lines of a list item begin at its text.
std::string indented(std::string_view block, std::size_t columns) {
  std::string text;
  while (!block.empty()) {
    const std::size_t end = block.find('\n') + 1;
    text += std::string(columns, ' ') + std::string(block.substr(0, end));
    block.remove_prefix(end);
  }
  return text;
}

/// A line break within a line is shown, as in all texts.
std::string fenced(const std::vector<std::string>& lines, const std::string& language) {
  std::string code;
  for (const std::string& line : lines) code += printable(line) + '\n';
  return code.empty() ? code : markdown_code_block(code, language);
}

std::string item_text(const Item& item, const std::string& marker) {
  const std::string term = item.term.empty() ? "" : "**" + markdown_text(item.term) + "**: ";
  std::string line = marker + term + inline_markdown(item.text) + '\n';
  if (item.code.empty()) return line;
  constexpr std::size_t kLeastIndent = 3;
  return line + '\n' + indented(fenced(item.code, ""), std::max(kLeastIndent, marker.size()));
}

/// A block as its lines.
struct AsMarkdown {
  std::string operator()(const Heading& heading) const {
    if (heading.text.empty()) return {};
    std::string text = std::string(static_cast<std::size_t>(heading.level), '#') + ' ' +
                       markdown_text(heading.text.plain()) + '\n';
    std::string details;
    for (const Text& detail : heading.details) {
      details += (details.empty() ? "" : ", ") + inline_markdown(detail);
    }
    return details.empty() ? text : text + '\n' + details + '\n';
  }
  std::string operator()(const Paragraph& paragraph) const {
    return paragraph.text.empty() ? "" : inline_markdown(paragraph.text) + '\n';
  }
  std::string operator()(const Table& table) const {
    if (table.rows.empty()) return {};
    const auto line = [&](const auto& text_of) {
      std::string text = "|";
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (!table.columns[c].is_for_terminals()) text += text_of(c);
      }
      return text + '\n';
    };
    const auto cell = [](const std::string& text) { return ' ' + markdown_cell(text) + " |"; };
    std::string text = line([&](std::size_t c) { return cell(table.columns[c].title); }) +
                       line([&](std::size_t c) {
                         return table.columns[c].align == Align::right ? "--:|" : "---|";
                       });
    for (const Row& row : table.rows) {
      text += line([&](std::size_t c) { return cell(row.at(c).plain()); });
    }
    return text + (table.note.empty() ? "" : '\n' + markdown_text(table.note) + '\n');
  }
  std::string operator()(const List& list) const {
    std::string text;
    std::size_t number = 0;
    for (const Item& item : list.items) {
      text += item_text(item, list.numbered ? std::to_string(++number) + ". " : "- ");
    }
    return text;
  }
  std::string operator()(const Tiles& tiles) const { return (*this)(as_list(tiles)); }
  std::string operator()(const Code& code) const { return fenced(code.lines, code.language); }
  std::string operator()(const Chart& /*chart*/) const { return {}; }
  std::string operator()(const Gap& /*gap*/) const { return {}; }
};

}  // namespace
}  // namespace cachebisect::document

namespace cachebisect {

std::string to_markdown(const Document& document) {
  std::string text;
  for (const document::Block& block : document.blocks()) {
    const std::string lines = std::visit(document::AsMarkdown(), block);
    if (!lines.empty()) text += (text.empty() ? "" : "\n") + lines;
  }
  return text;
}

}  // namespace cachebisect

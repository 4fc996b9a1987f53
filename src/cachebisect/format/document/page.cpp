// Documents as parts of an HTML page.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"

namespace cachebisect::document {
namespace {

using html::element;
using html::Html;

Html part_html(const Part& part) {
  constexpr std::size_t kMost = 2 * html::kMaxCharacters;
  switch (part.mark) {
    case Mark::none:
    case Mark::bar:
    case Mark::loss_bar:
      break;
    case Mark::strong:
    case Mark::warning:
      return element("strong", html::text(part.text, kMost));
    case Mark::dash:
      return html::text(" - ");
    case Mark::name:
      return html::name(part.text);
    case Mark::below:
      return Html::ours("<br>") + element("span", {{"class", "note"}}, html::name(part.text));
    case Mark::copied:
      return html::copyable(part.text);
  }
  return html::text(part.text, kMost);
}

Html inline_html(const Text& text) {
  Html all;
  for (const Part& part : text.parts()) all += part_html(part);
  return all;
}

/// Whether more is shown of a cell than its words.
bool has_elements(const Text& text) {
  return std::ranges::any_of(text.parts(), [](const Part& part) {
    return part.mark == Mark::name || part.mark == Mark::below || part.mark == Mark::copied;
  });
}

/// Up to three names of stages.
Html stage_names(const std::string& text) {
  return element("bdi", {{"class", "name"}}, html::text(text, 3 * html::kMaxNameCharacters));
}

Html html_cell(const Text& text, const Column& column) {
  const std::string plain = text.plain();
  if (column.names) return stage_names(plain);
  if (has_elements(text)) return inline_html(text);
  return html::figure(plain == "-" ? html::kNotMeasured : plain);
}

/// As html::Table takes it, with a capital.
std::string html_title(const Column& column) {
  std::string title = column.title;
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return (column.align == Align::left ? "<" : "") + title;
}

Html code_element(const std::vector<std::string>& code) {
  constexpr std::size_t kMaxCharactersOfLine = 20'000;
  Html lines;
  for (const std::string& line : code) {
    lines += html::text(line, kMaxCharactersOfLine) + Html::ours("\n");
  }
  return lines.empty() ? lines : element("pre", {{"tabindex", "0"}}, lines);
}

/// A block as its element.
struct AsHtml {
  Html operator()(const Heading& heading) const {
    if (heading.text.empty()) return {};
    Html all = element("h" + std::to_string(heading.level), inline_html(heading.text));
    for (const Text& detail : heading.details) all += html::note(detail.plain());
    return all;
  }
  Html operator()(const Paragraph& paragraph) const {
    if (paragraph.text.empty()) return {};
    const Html words = inline_html(paragraph.text);
    return paragraph.remark ? element("p", {{"class", "note"}}, words) : element("p", words);
  }
  Html operator()(const Table& table) const {
    std::vector<std::string> titles;
    for (const Column& column : table.columns) {
      if (!column.is_for_terminals()) titles.push_back(html_title(column));
    }
    html::Table all(table.caption, {titles.begin(), titles.end()});
    for (const Row& row : table.rows) {
      std::vector<Html> cells;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (!table.columns[c].is_for_terminals())
          cells.push_back(html_cell(row.at(c), table.columns[c]));
      }
      all.add(cells);
    }
    const bool noted = !table.rows.empty() && !table.note.empty();
    return all.html() + (noted ? html::note(table.note) : Html());
  }
  Html operator()(const List& list) const {
    html::Facts terms;
    Html items;
    for (const Item& item : list.items) {
      if (!item.term.empty()) terms.add(item.term, item.text.plain());
      if (item.term.empty())
        items += element("li", inline_html(item.text) + code_element(item.code));
    }
    const Html all = terms.html();
    return items.empty() ? all : all + element(list.numbered ? "ol" : "ul", items);
  }
  Html operator()(const Code& code) const { return code_element(code.lines); }
  Html operator()(const Chart& chart) const {
    return html::chart(chart.kind, chart.rows, chart.alternative,
                       nlohmann::ordered_json::parse(chart.data));
  }
  Html operator()(const Gap& /*gap*/) const { return {}; }
};

}  // namespace
}  // namespace cachebisect::document

namespace cachebisect {

html::Html to_html(const Document& document) {
  html::Html all;
  for (const document::Block& block : document.blocks()) {
    all += std::visit(document::AsHtml(), block);
  }
  return all;
}

}  // namespace cachebisect

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

/// With a capital.
std::string html_title(const Column& column) {
  std::string title = column.title;
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return title;
}

const char* side_of(const Column& column) { return column.align == Align::left ? "left" : "right"; }

Html html_head(const Table& table) {
  Html head;
  for (const Column& column : table.columns) {
    if (column.is_for_terminals()) continue;
    head += element("th", {{"scope", "col"}, {"class", side_of(column)}},
                    html::text(html_title(column)));
  }
  return element("thead", element("tr", head));
}

/// The first cell is the row's heading.
Html html_row(const Row& row, const std::vector<Column>& columns) {
  Html cells;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].is_for_terminals()) continue;
    const Html cell = html_cell(row.at(c), columns[c]);
    const char* const side = side_of(columns[c]);
    cells += cells.empty() ? element("th", {{"scope", "row"}, {"class", side}}, cell)
                           : element("td", {{"class", side}}, cell);
  }
  return element("tr", cells) + Html::ours("\n");
}

/// With a caption, and a scroll bar of its own.
Html html_table(const Table& table) {
  if (table.rows.empty()) return {};
  Html rows;
  for (const Row& row : table.rows) rows += html_row(row, table.columns);
  return element(
      "div",
      {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.caption}},
      element("table",
              element("caption", table.caption) + html_head(table) + element("tbody", rows)));
}

Html html_fact(const Item& item) {
  return element("div", element("dt", item.term) + element("dd", item.text.plain()));
}

Html html_tile(const Tile& tile) {
  const Html detail = element("span", {{"class", "note"}}, html::text(tile.detail));
  return element("div", {{"class", "tile"}},
                 element("dt", tile.term) +
                     element("dd", element("strong", inline_html(tile.figure)) + detail));
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
    const bool noted = !table.rows.empty() && !table.note.empty();
    return html_table(table) + (noted ? html::note(table.note) : Html());
  }
  Html operator()(const List& list) const {
    Html facts;
    Html items;
    for (const Item& item : list.items) {
      if (!item.term.empty())
        facts += html_fact(item);
      else
        items += element("li", inline_html(item.text) + code_element(item.code));
    }
    Html all;
    if (!facts.empty()) all += element("dl", {{"class", "facts"}}, facts);
    if (!items.empty()) all += element(list.numbered ? "ol" : "ul", items);
    return all;
  }
  Html operator()(const Tiles& tiles) const {
    Html all;
    for (const Tile& tile : tiles.tiles) all += html_tile(tile);
    return all.empty() ? all : element("dl", {{"class", "tiles"}}, all);
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

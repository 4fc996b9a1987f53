// Documents on a terminal.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/document/render.hpp"

namespace cachebisect::document {
namespace {

constexpr int kLeastBars = 4;
constexpr int kMostBars = 40;
constexpr int kMostProse = 120;  ///< longer lines are hard to read

struct TextPage {
  explicit TextPage(const TextOptions& options)
      : paint(options.color, options.unicode ? Charset::unicode : Charset::ascii),
        columns(options.columns),
        prose(std::min(options.columns, kMostProse)) {}

  TextPaint paint;
  int columns;  ///< for tables
  int prose;    ///< for sentences
};

bool is_bar(const Part& part) { return part.mark == Mark::bar || part.mark == Mark::loss_bar; }

std::string part_text(const Part& part, const TextPaint& paint, int bars) {
  switch (part.mark) {
    case Mark::none:
    case Mark::name:
    case Mark::copied:
      break;
    case Mark::strong:
      return paint.bold(printable(part.text));
    case Mark::warning:
      return paint.warning(printable(part.text));
    case Mark::dash:
      return std::string(paint.dash());
    case Mark::bar:
      return paint.bar(part.share, bars);
    case Mark::loss_bar:
      return paint.loss(paint.bar(part.share, bars));
    case Mark::below:
      return ' ' + printable(part.text);
  }
  return printable(part.text);
}

std::string painted(const Text& text, const TextPaint& paint, int bars = 0) {
  std::string out;
  bool after_bar = false;
  for (const Part& part : text.parts()) {
    if (after_bar && !out.empty()) out += ' ';
    out += part_text(part, paint, bars);
    after_bar = is_bar(part);
  }
  return out;
}

/// A table with bars of some length, and what stands below it.
struct LaidOut {
  TextTable table;
  std::vector<std::string> below;  ///< each row
  std::string after;               ///< all rows
};

/// What stays of a cell whose words leave the table.
Text bars_of(const Text& cell) {
  Text bars;
  for (const Part& part : cell.parts()) {
    if (is_bar(part)) bars += Text(part);
  }
  return bars;
}

bool stands_below(const Column& column, bool narrow) {
  return column.below || (narrow && column.may_be_below);
}

LaidOut lay_out(const Table& table, const TextPage& page, int bars, bool narrow) {
  std::vector<TextTable::Column> columns;
  for (const Column& column : table.columns) {
    if (stands_below(column, narrow)) continue;
    columns.push_back({column.bars > 0 ? "" : column.title, column.align, column.names});
  }
  LaidOut all{TextTable(std::move(columns)), {}, {}};
  for (const Row& row : table.rows) {
    std::vector<std::string> cells;
    std::string below;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      const std::string words = printable(row.at(c).plain());
      const bool leaves = narrow && !column.sentence.empty();
      if (leaves && !words.empty()) {
        all.after += wrap("(" + column.sentence + ' ' + words + ".)", page.prose, 1);
      }
      if (stands_below(column, narrow)) {
        below += words.empty() ? words : wrap("    " + words, page.columns, 6);
      } else {
        cells.push_back(painted(leaves ? bars_of(row.at(c)) : row.at(c), page.paint, bars));
      }
    }
    all.table.add(std::move(cells));
    all.below.push_back(std::move(below));
  }
  return all;
}

/// With the longest bars that fit.
LaidOut fitted_bars(const Table& table, const TextPage& page, bool narrow) {
  int bars = 0;
  for (const Column& column : table.columns) bars = std::max(bars, column.bars);
  if (bars > 0) bars = std::max(bars, std::min(bars + (page.columns - 80) / 2, kMostBars));
  LaidOut all = lay_out(table, page, bars, narrow);
  while (all.table.width() > page.columns && bars > kLeastBars) {
    all = lay_out(table, page, --bars, narrow);
  }
  return all;
}

/// The table, with what stands below its rows and below it.
std::string woven(const LaidOut& all, const TextPage& page) {
  std::istringstream lines(all.table.to_text(page.paint, page.columns));
  std::string line;
  std::getline(lines, line);
  std::string text = line + '\n';
  for (const std::string& below : all.below) {
    std::getline(lines, line);
    text.append(line).append("\n").append(below);
  }
  return text + all.after;
}

/// "term     text", with further lines indented to the text, or the text below if a term is long.
std::string with_term(const Item& item, std::size_t columns, const TextPage& page) {
  constexpr std::size_t kMostTermColumns = 16;
  const std::string term = printable(item.term);
  if (columns > kMostTermColumns) {
    return wrap(page.paint.bold(term), page.prose, 2) +
           wrap("  " + painted(item.text, page.paint), page.prose, 2);
  }
  std::string text = page.paint.bold(term) + std::string(columns - display_width(term), ' ');
  const std::string lines =
      wrap(painted(item.text, page.paint), page.prose - static_cast<int>(columns), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (lines[i] == '\n' && i + 1 < lines.size()) text.append(columns, ' ');
  }
  return text;
}

std::string code_lines(const std::vector<std::string>& lines, int indent) {
  std::string text;
  for (const std::string& line : lines) {
    text += std::string(static_cast<std::size_t>(indent), ' ') + printable(line) + '\n';
  }
  return text;
}

/// A block as its lines.
class OnTerminal {
 public:
  explicit OnTerminal(const TextPage& page) : page_(page) {}

  std::string operator()(const Heading& heading) const {
    if (heading.text.empty()) return {};
    const std::string name = page_.paint.bold(printable(heading.text.plain()));
    std::string line = name;
    for (const Text& detail : heading.details) line += "  " + painted(detail, page_.paint);
    if (display_width(line) <= static_cast<std::size_t>(page_.prose)) return line + '\n';
    std::string lines = wrap(name, page_.prose, 2);
    for (const Text& detail : heading.details) {
      lines += wrap("  " + painted(detail, page_.paint), page_.prose, 2);
    }
    return lines;
  }
  std::string operator()(const Paragraph& paragraph) const {
    if (paragraph.text.empty()) return {};
    return wrap(painted(paragraph.text, page_.paint), page_.prose, paragraph.hang);
  }
  std::string operator()(const Table& table) const {
    if (table.rows.empty()) return {};
    LaidOut all = fitted_bars(table, page_, false);
    if (all.table.width() > page_.columns) all = fitted_bars(table, page_, true);
    const std::string note = printable(table.note);
    return woven(all, page_) + (note.empty() ? "" : wrap("(" + note + ")", page_.prose, 1));
  }
  std::string operator()(const List& list) const {
    std::size_t terms = 0;
    for (const Item& item : list.items) {
      terms = std::max(terms, display_width(printable(item.term)));
    }
    std::string text;
    std::size_t number = 0;
    for (const Item& item : list.items) {
      const std::string line = painted(item.text, page_.paint);
      if (terms > 0) {
        text += with_term(item, terms + 2, page_);
      } else if (list.numbered) {
        text += wrap(std::to_string(++number) + ". " + line, page_.prose, 3);
      } else {
        text += wrap(line, page_.prose, 2);
      }
      text += code_lines(item.code, list.numbered ? 3 : 4);
    }
    return text;
  }
  std::string operator()(const Tiles& tiles) const { return (*this)(as_list(tiles)); }
  std::string operator()(const Code& code) const { return code_lines(code.lines, code.indent); }
  std::string operator()(const Chart& /*chart*/) const { return {}; }
  std::string operator()(const Gap& /*gap*/) const { return {}; }

 private:
  const TextPage& page_;
};

}  // namespace
}  // namespace cachebisect::document

namespace cachebisect {

std::string to_text(const Document& document, const TextOptions& options) {
  const document::TextPage page(options);
  const document::OnTerminal on_terminal(page);
  std::string text;
  bool apart = false;
  for (const document::Block& block : document.blocks()) {
    apart = apart || std::holds_alternative<document::Gap>(block);
    const std::string lines = std::visit(on_terminal, block);
    if (lines.empty()) continue;
    if (apart && !text.empty()) text += '\n';
    text += lines;
    apart = false;
  }
  return text;
}

}  // namespace cachebisect

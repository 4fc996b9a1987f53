// A text that is built once and shown on a terminal, as Markdown and as HTML (render.hpp). It holds
// what is said; the renderers lay it out and escape it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/document/text.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect::document {

struct Heading {
  Text text;
  int level = 3;                ///< of Markdown and HTML
  std::vector<Text> details{};  ///< what else the line says: a file, "(generated data)"
};

struct Paragraph {
  Text text;
  int hang = 0;         ///< on a terminal: columns by which all lines after the first are indented
  bool remark = false;  ///< on what is around it: dimmed on a page
};

struct Column {
  std::string title;
  Align align = Align::left;
  bool names = false;         ///< cells name stages, which may be shortened within
  bool below = false;         ///< on a terminal, cells stand below their rows
  bool may_be_below = false;  ///< the same if the table is wider than the terminal
  /// Not empty: if the table is wider than the terminal, each text of the column stands below it
  /// instead, in parentheses after these words.
  std::string sentence{};
  /// Columns that a whole bar takes on a terminal of 80; 0: no bars. They grow with the terminal,
  /// and shrink before a text is clipped. A column with bars has no title on a terminal, and
  /// without a title it is on a terminal alone.
  int bars = 0;

  [[nodiscard]] bool is_for_terminals() const noexcept { return bars > 0 && title.empty(); }
};

/// One cell for each column; nothing is shown of a table without rows. A cell of "-" is a figure
/// that is not known.
using Row = std::vector<Text>;

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows{};
  std::string caption{};  ///< of HTML, where every table has one
  std::string note{};     ///< a sentence below it
};

struct Item {
  Text text;
  std::string term{};               ///< what the text is about
  std::vector<std::string> code{};  ///< lines below it, to be copied
};

/// On a terminal a line each, further lines indented; with terms in two columns, or
/// each text below its term if a term is long.
struct List {
  std::vector<Item> items;
  bool numbered = false;
};

/// A figure that is seen first.
struct Tile {
  std::string term;
  Text figure;
  std::string detail{};  ///< on a page below the figure, in smaller type
};

/// On a page in a row; elsewhere as a list with terms.
struct Tiles {
  std::vector<Tile> tiles;
};
[[nodiscard]] CACHEBISECT_INTERNAL_API List as_list(const Tiles& tiles);

/// Lines to be copied: they are never wrapped.
struct Code {
  std::vector<std::string> lines;
  std::string language{};
  int indent = 2;  ///< on a terminal
};

/// On HTML pages alone: `kind` is a function of page.js, which draws the data.
struct Chart {
  std::string kind;
  std::size_t rows = 1;     ///< which set its height
  std::string alternative;  ///< what there is to see, and where the same figures stand as text
  std::string data;         ///< JSON
};

/// On a terminal: an empty line between what is above and below. Elsewhere all blocks stand apart.
struct Gap {};

using Block = std::variant<Heading, Paragraph, Table, List, Tiles, Code, Chart, Gap>;

}  // namespace cachebisect::document

namespace cachebisect {

/// Blocks in the order in which they are read. Those with nothing to show are left out by every
/// renderer, with the gaps around them.
class CACHEBISECT_INTERNAL_API Document {
 public:
  void add(document::Block block) { blocks_.push_back(std::move(block)); }
  void add(const Document& more);
  void gap() { add(document::Gap{}); }
  /// A paragraph.
  void say(document::Text text, int hang = 0);
  /// `body` below a gap and its heading; nothing if there is nothing in it.
  void section(std::string_view heading, const Document& body);

  [[nodiscard]] const std::vector<document::Block>& blocks() const noexcept { return blocks_; }
  /// Whether there is nothing to show.
  [[nodiscard]] bool empty() const noexcept;

 private:
  std::vector<document::Block> blocks_;
};

}  // namespace cachebisect

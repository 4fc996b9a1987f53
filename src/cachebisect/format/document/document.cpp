#include "cachebisect/format/document/document.hpp"

#include <algorithm>

namespace cachebisect::document {
namespace {

struct IsEmpty {
  bool operator()(const Heading& heading) const { return heading.text.empty(); }
  bool operator()(const Paragraph& paragraph) const { return paragraph.text.empty(); }
  bool operator()(const Table& table) const { return table.rows.empty(); }
  bool operator()(const List& list) const { return list.items.empty(); }
  bool operator()(const Tiles& tiles) const { return tiles.tiles.empty(); }
  bool operator()(const Code& code) const { return code.lines.empty(); }
  bool operator()(const Chart& /*chart*/) const { return false; }
  bool operator()(const Gap& /*gap*/) const { return true; }
};

}  // namespace

List as_list(const Tiles& tiles) {
  List list;
  for (const Tile& tile : tiles.tiles) {
    const std::string detail = tile.detail.empty() ? "" : ' ' + tile.detail;
    list.items.push_back({tile.figure + detail, tile.term});
  }
  return list;
}

}  // namespace cachebisect::document

namespace cachebisect {

void Document::add(const Document& more) {
  blocks_.insert(blocks_.end(), more.blocks_.begin(), more.blocks_.end());
}

void Document::say(document::Text text, int hang) {
  add(document::Paragraph{std::move(text), hang});
}

void Document::section(std::string_view heading, const Document& body) {
  if (body.empty()) return;
  gap();
  add(document::Heading{heading});
  add(body);
}

bool Document::empty() const noexcept {
  return std::ranges::all_of(
      blocks_, [](const document::Block& block) { return std::visit(document::IsEmpty(), block); });
}

}  // namespace cachebisect

#include "cachebisect/format/html/elements.hpp"

#include "cachebisect/format/html/figures.hpp"

namespace cachebisect::html {
namespace {

/// Longer than any edit that the report proposes.
constexpr std::size_t kMaxCopied = 20'000;

}  // namespace

Html section(std::string_view id, std::string_view heading, const Html& content) {
  return section(id, text(heading), content);
}

Html section(std::string_view id, const Html& heading, const Html& content) {
  const std::string title = std::string(id) + "-title";
  return element("section", {{"id", id}, {"aria-labelledby", title}},
                 element("h2", {{"id", title}}, heading) + content) +
         Html::ours("\n");
}

Html paragraph(std::string_view text) { return element("p", text); }

Html note(std::string_view words) { return element("p", {{"class", "note"}}, text(words)); }

Html name(std::string_view name) {
  return element("bdi", {{"class", "name"}}, text(name, kMaxNameCharacters));
}

Html figure(std::string_view figure) {
  const bool words = figure == kNotMeasured || figure == kTooFewRounds;
  return words ? element("span", {{"class", "none"}}, text(figure)) : text(figure);
}

Html copyable(std::string_view copied, std::string_view button) {
  return element("div", {{"class", "copyable"}},
                 element("code", text(copied, kMaxCopied)) +
                     element("button", {{"type", "button"}, {"class", "copy"}},
                             text(button) + element("span", {{"class", "unseen"}},
                                                    text(": " + std::string(copied), 80))));
}

void Facts::add(std::string_view term, std::string_view value) {
  rows_ += element("div", element("dt", term) + element("dd", value));
}

Html Facts::html() const {
  return rows_.empty() ? Html() : element("dl", {{"class", "facts"}}, rows_);
}

Table::Table(std::string_view caption, const std::vector<std::string_view>& columns)
    : caption_(caption) {
  for (std::string_view column : columns) {
    const bool left = left_.empty() || column.starts_with('<');
    if (column.starts_with('<')) column.remove_prefix(1);
    left_.push_back(left);
    head_ += element("th", {{"scope", "col"}, {"class", left ? "left" : "right"}}, text(column));
  }
}

void Table::add(const std::vector<Html>& cells) {
  Html row;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const char* const side = left_.at(c) ? "left" : "right";
    row += c == 0 ? element("th", {{"scope", "row"}, {"class", side}}, cells[c])
                  : element("td", {{"class", side}}, cells[c]);
  }
  rows_ += element("tr", row) + Html::ours("\n");
}

Html Table::html() const {
  if (rows_.empty()) return {};
  return element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption_}},
      element("table", element("caption", caption_) + element("thead", element("tr", head_)) +
                           element("tbody", rows_)));
}

}  // namespace cachebisect::html

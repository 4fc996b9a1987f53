#include "cachebisect/format/html/elements.hpp"

#include <string>

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

}  // namespace cachebisect::html

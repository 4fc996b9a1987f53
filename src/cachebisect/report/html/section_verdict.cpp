// The answer: one sentence, the figures behind it, and what follows from it.
#include <string>
#include <utility>

#include "cachebisect/bisect/evidence/verdict_kind.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/document/tiles.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/text_consequences.hpp"

namespace cachebisect::html {
namespace {

document::Tiles figures(const Report& report) {
  document::Tiles all{{document::rate_tile("The training step could take", report.ceiling),
                       document::rate_tile("The live pipeline gives", report.live),
                       document::share_tile("Lost", report.loss.total, "of the ceiling")}};
  if (!report.verdict.fix_first.empty()) {
    all.tiles.push_back({"Fix first", document::named(report.verdict.fix_first)});
  }
  return all;
}

Html link_to_warnings(const Report& report) {
  if (report.warnings.empty()) return {};
  const std::size_t count = report.warnings.size();
  return element("p",
                 element("a", {{"href", "#warnings"}},
                         text(std::to_string(count) + (count == 1 ? " warning" : " warnings"))) +
                     text(count == 1 ? " says what makes this less certain than it looks."
                                     : " say what makes this less certain than it looks."));
}

}  // namespace

Html verdict_section(const Report& report) {
  const std::string sentence =
      report.verdict.text.empty() ? "No verdict was reached." : report.verdict.text;
  Document further;
  further.add(figures(report));
  for (const std::string& consequence : consequences(report)) further.say(consequence);
  return section(
      "verdict", "Verdict",
      element("p", {{"class", "sentence"}, {"data-kind", to_string(report.verdict.kind)}},
              text(sentence, 2 * kMaxCharacters)) +
          to_html(further) + link_to_warnings(report));
}

}  // namespace cachebisect::html

// The answer: one sentence, the figures behind it, and what follows from it.
#include <string>

#include "cachebisect/bisect/evidence/verdict_kind.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/tiles.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/text_consequences.hpp"

namespace cachebisect::html {
namespace {

Html figures(const Report& report) {
  Html all = rate_tile("The training step could take", report.ceiling) +
             rate_tile("The live pipeline gives", report.live) +
             share_tile("Lost", report.loss.total, "of the ceiling");
  if (!report.verdict.fix_first.empty()) {
    all += tile("Fix first", name(report.verdict.fix_first));
  }
  return tiles(all);
}

Html further(const Report& report) {
  Html all;
  for (const std::string& sentence : consequences(report)) all += paragraph(sentence);
  if (!report.warnings.empty()) {
    const std::size_t count = report.warnings.size();
    all += element("p",
                   element("a", {{"href", "#warnings"}},
                           text(std::to_string(count) + (count == 1 ? " warning" : " warnings"))) +
                       text(count == 1 ? " says what makes this less certain than it looks."
                                       : " say what makes this less certain than it looks."));
  }
  return all;
}

}  // namespace

Html verdict_section(const Report& report) {
  const std::string sentence =
      report.verdict.text.empty() ? "No verdict was reached." : report.verdict.text;
  return section(
      "verdict", "Verdict",
      element("p", {{"class", "sentence"}, {"data-kind", to_string(report.verdict.kind)}},
              text(sentence, 2 * kMaxCharacters)) +
          figures(report) + further(report));
}

}  // namespace cachebisect::html

// What to try, with the flags and edits to copy.
#include <string>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/report/words/remedy_text.hpp"

namespace cachebisect::html {
namespace {

Html edits(const Remedy& remedy) {
  if (remedy.edits.empty()) return {};
  Html all;
  for (const Edit& edit : remedy.edits) all += note(edit_text(edit));
  return all + copyable(json_patch(remedy.edits), "Copy as JSON Patch");
}

Html item(const Remedy& remedy) {
  Html content = element("p", element("strong", as_sentence(remedy.text))) +
                 paragraph(as_sentence(remedy.reason));
  const std::string gain = remedy_gain(remedy);
  if (!gain.empty()) content += paragraph(as_sentence(gain));
  for (const std::string& flag : remedy.flags) content += copyable(flag);
  content += edits(remedy);
  for (const std::string& line : remedy.lines) content += copyable(line);
  return element("li", content);
}

}  // namespace

Html remedies_section(const Report& report) {
  if (report.remedies.empty()) return {};
  Html items;
  for (const Remedy& remedy : first_remedies(report.remedies)) items += item(remedy);
  const std::string caution = remedies_caution(report.remedies);
  return section("remedies", "Things to try",
                 (caution.empty() ? Html{} : paragraph(caution)) +
                     element("ol", {{"class", "remedies"}}, items));
}

}  // namespace cachebisect::html

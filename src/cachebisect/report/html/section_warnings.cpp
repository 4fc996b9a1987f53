// What makes the result less certain than it looks.
#include <string>

#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {

Html warnings_section(const Report& report) {
  if (report.warnings.empty()) return {};
  Html items;
  for (const Warning& warning : report.warnings) {
    Html content =
        element("p", element("code", warning.code) + text(" ") + text(as_sentence(warning.text)));
    if (!warning.remedy.empty()) content += paragraph(as_sentence(warning.remedy));
    Html details;
    for (const std::string& line : warning.details) details += text(line) + Html::ours("\n");
    if (!details.empty()) content += element("pre", {{"tabindex", "0"}}, details);
    items += element("li", content);
  }
  return section("warnings", "Warnings", element("ul", {{"class", "warnings"}}, items));
}

}  // namespace cachebisect::html

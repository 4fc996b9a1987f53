// What each number of this report means, in its own figures.
#include <string>

#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/explained_numbers.hpp"

namespace cachebisect::html {

Html glossary_section(const Report& report) {
  Html terms;
  for (const ExplainedNumber& number : explain_numbers(report)) {
    terms += element("dt", number.number) + element("dd", number.meaning);
  }
  Html content = element("dl", {{"class", "glossary"}}, terms);
  const std::string missing = explain_missing(report);
  if (!missing.empty()) content += paragraph(missing);
  return section(
      "glossary", "What the numbers mean",
      element("details", element("summary", "Each number of this report, explained") + content));
}

}  // namespace cachebisect::html

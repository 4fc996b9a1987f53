// Changes that were asked about: predicted next to measured.
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/what_if_text.hpp"

namespace cachebisect::html {

Html what_ifs_section(const Report& report) {
  if (report.what_ifs.empty()) return {};
  Document what_ifs;
  what_ifs.add(what_if_table(report));
  return section("what-ifs", "What if", to_html(what_ifs));
}

}  // namespace cachebisect::html

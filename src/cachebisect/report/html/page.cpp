// The report as one page that needs nothing else: styles, scripts, figures and the JSON in one
// file.
#include <string>

#include "cachebisect/format/html/document.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

using html::Html;

Html sections(const Report& report) {
  Html all;
  for (const auto section :
       {html::verdict_section, html::flow_section, html::waterfall_section, html::loss_section,
        html::remedies_section, html::what_ifs_section, html::warnings_section,
        html::stages_section, html::busy_section, html::ranks_section, html::timeline_section,
        html::facts_section, html::glossary_section}) {
    all += section(report);
  }
  return all;
}

}  // namespace

std::string to_html(const Report& report) {
  const Html top =
      html::document_start(report.chain.name, "cachebisect report", "Skip to the verdict") +
      html::job_section(report);
  const Html body = sections(report);
  const Html end = html::document_end();
  const std::size_t used = top.source().size() + body.source().size() + end.source().size();
  const std::size_t left = used < html::kMaxPageBytes ? html::kMaxPageBytes - used : 0;
  return (top + html::document_main(body + html::json_section(report, left)) + end).source();
}

}  // namespace cachebisect

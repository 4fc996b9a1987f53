// What was run, and what a reader must know before any figure.
#include <string>

#include "cachebisect/format/html/document.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"
#include "cachebisect/report/words/job_text.hpp"

namespace cachebisect::html {
namespace {

Html tags(const Report& report) {
  Html all;
  const auto add = [&](bool shown, const char* label) {
    if (shown) all += element("li", label);
  };
  add(report.interrupted, "interrupted: a partial report");
  add(report.chain.device_kind == DeviceKind::emulated, "emulated device");
  add(!emulated_storage_text(report.chain.effective_json).empty(), "emulated storage");
  add(report.chain.generated_data, "generated data");
  return all.empty() ? all : element("ul", {{"class", "tags"}, {"aria-label", "Notes"}}, all);
}

}  // namespace

Html job_section(const Report& report) {
  const ChainDescription& chain = report.chain;
  std::string when = rounds_text(report);
  if (!report.started.empty()) when += "; started " + report.started;
  return document_header("cachebisect report",
                         name(chain.name.empty() ? "input pipeline" : chain.name),
                         element("p", text(job_text(chain))) + note(when) + tags(report));
}

}  // namespace cachebisect::html

// The JSON report inside the page.
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const Report& report) {
  std::ostringstream json;
  write_json(report, json);
  return Json::parse(json.str());
}

/// What of the report fits into so many bytes, and a remark if that is not all.
struct Fitted {
  Html json;
  Html remark;
};

/// Without what only an analysis needs.
void leave_out_recording(Json& json) {
  json.erase("recording");
  for (Json& block : json["blocks"]) block.erase("counters");
}

Fitted fit(const Report& report, std::size_t bytes) {
  Json json = parsed(report);
  Html whole = json_text(json);
  if (whole.source().size() <= bytes) return {std::move(whole), {}};
  leave_out_recording(json);
  Html shorter = json_text(json);
  if (shorter.source().size() <= bytes) {
    return {std::move(shorter),
            note("Without \"recording\" and the counters of blocks, which would "
                 "make the page too large; --json writes them.")};
  }
  json.erase("blocks");
  Html without_blocks = json_text(json);
  if (without_blocks.source().size() <= bytes) {
    return {std::move(without_blocks),
            note("Without \"blocks\", which would make the page too large; --json writes them.")};
  }
  return {{}, note("The JSON report would make the page too large; --json writes it.")};
}

}  // namespace

Html json_section(const Report& report, std::size_t bytes) {
  constexpr std::size_t kReserve = 1000;  // the elements around it
  const Fitted fitted = fit(report, bytes > kReserve ? bytes - kReserve : 0);
  Html content = fitted.remark;
  if (!fitted.json.empty()) {
    content += element("script", {{"type", "application/json"}, {"id", "report"}}, fitted.json) +
               Html::ours(
                   "<p class=\"buttons\"><button type=\"button\" id=\"copy-json\">Copy "
                   "JSON</button> <button type=\"button\" id=\"save-json\">Save as "
                   "report.json</button></p>\n<details id=\"show-json\"><summary>Show "
                   "JSON</summary><pre tabindex=\"0\" role=\"region\" aria-label=\"JSON "
                   "text\"></pre></details>");
  }
  return section("json", "JSON report", content);
}

}  // namespace cachebisect::html

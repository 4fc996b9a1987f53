#include "cachebisect/format/html/chart.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/json_values.hpp"

namespace cachebisect {

// Generated from the library, its notice, and page.js.
extern const char* const page_chart_library;
extern const char* const page_chart_notice;
extern const char* const page_script;

namespace html {

bool has_charts() noexcept { return *page_chart_library != '\0'; }

Html chart(std::string_view kind, std::size_t rows, std::string_view label,
           const nlohmann::ordered_json& data) {
  if (!has_charts()) return {};
  return element(
      "figure",
      {{"class", "chart"}, {"data-chart", kind}, {"style", "--rows: " + std::to_string(rows)}},
      element("canvas", {{"role", "img"}, {"aria-label", label}}) +
          element("script", {{"type", "application/json"}}, json_text(data)));
}

nlohmann::ordered_json chart_value(std::string_view label, const Estimate& estimate,
                                   std::string_view text) {
  using json_values::number;
  const auto& interval = estimate.interval;
  return {{"label", printable(shortened(label, kMaxNameCharacters))},
          {"value", number(estimate.value)},
          {"low", interval ? number(interval->low) : number(std::nullopt)},
          {"high", interval ? number(interval->high) : number(std::nullopt)},
          {"text", text}};
}

Html chart_scripts() {
  Html scripts;
  if (has_charts()) {
    scripts += Html::ours("<script>/*!\n" + std::string(page_chart_notice) + "*/\n" +
                          page_chart_library + "</script>\n");
  }
  return scripts + Html::ours("<script>\n" + std::string(page_script) + "</script>\n");
}

}  // namespace html
}  // namespace cachebisect

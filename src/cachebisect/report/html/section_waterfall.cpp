// The waterfall: throughput from the ceiling down to live, one more stage live in each row.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/boundary_rows.hpp"
#include "cachebisect/report/words/report_document.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

/// What the row above reaches and this one does not starts where the bar ends.
Json bars(const std::vector<BoundaryRow>& rows) {
  Json all = Json::array();
  std::optional<double> above;
  for (const BoundaryRow& row : rows) {
    if (!row.rate) continue;
    const Estimate rate{row.rate, row.interval};
    Json bar = chart_value(row.label, rate, rate_figure(rate) + " samples/s");
    bar["short"] = format_rate(*row.rate, row.interval);
    bar["above"] = above.value_or(*row.rate);
    bar["lost"] = row.drop ? format_percent(*row.drop) + " lost here" : "";
    all.push_back(std::move(bar));
    above = row.rate;
  }
  return all;
}

}  // namespace

Html waterfall_section(const Report& report) {
  const std::vector<BoundaryRow> rows = boundary_rows(report);
  if (rows.empty()) return {};
  Document figures;
  if (const Json data = bars(rows); !data.empty()) {
    figures.add(document::Chart{
        "waterfall", data.size(),
        "Bar chart: throughput from the training step alone down to the live pipeline. "
        "The table below has its figures.",
        data.dump()});
  }
  document::Table table = boundary_table(report);
  table.note.clear();  // among the facts
  figures.add(std::move(table));
  return section("waterfall", "From the ceiling down to live", to_html(figures));
}

}  // namespace cachebisect::html

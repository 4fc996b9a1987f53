// The waterfall: throughput from the ceiling down to live, one more stage live in each row.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/boundary_rows.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

Html cell(const std::optional<double>& share) {
  return text(share ? share_figure(share) : std::string());
}

Html table(const Report& report, const std::vector<BoundaryRow>& rows) {
  const std::string interval = format_percent(report.settings.confidence) + " interval";
  Table table("Throughput with more and more stages live",
              {"Stages live", "Samples/s", interval, "Of ceiling", "Lost here", "<Note"});
  for (const BoundaryRow& row : rows) {
    const Html label = element("bdi", {{"class", "name"}}, text(row.label, 3 * kMaxNameCharacters));
    if (!row.rate) {
      table.add({label, figure(kNotMeasured), figure(kTooFewRounds), {}, {}, {}});
      continue;
    }
    table.add({label, text(format_rate(*row.rate, row.interval)),
               text(rate_interval(*row.interval)), cell(row.share), cell(row.drop),
               text(row.note)});
  }
  return table.html();
}

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
  const Json data = bars(rows);
  Html content;
  if (!data.empty()) {
    content +=
        chart("waterfall", data.size(),
              "Bar chart: throughput from the training step alone down to the live pipeline. "
              "The table below has its figures.",
              data);
  }
  return section("waterfall", "From the ceiling down to live", content + table(report, rows));
}

}  // namespace cachebisect::html

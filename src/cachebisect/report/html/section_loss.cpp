// What the loss consists of.
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {
namespace {

struct Part {
  const char* name;
  const char* meaning;
  const Estimate& share;
};

}  // namespace

Html loss_section(const Report& report) {
  const Loss& loss = report.loss;
  if (!loss.total.value) return {};
  const std::array<Part, 3> parts{
      {{"starvation", "the training step waits for data", loss.starvation},
       {"contention", "loading that runs at the same time slows the step down", loss.contention},
       {"whole loss", "from the ceiling down to live", loss.total}}};
  document::Table table{.columns = {{"part"}, {"share of ceiling", Align::right}, {"what it is"}},
                        .caption = "Shares of the ceiling that are lost"};
  nlohmann::ordered_json data = nlohmann::ordered_json::array();
  for (const Part& part : parts) {
    table.rows.push_back({part.name, share_figure(part.share), part.meaning});
    if (part.share.value && part.share.interval)
      data.push_back(chart_value(part.name, part.share, share_figure(part.share)));
  }
  Document shares;
  shares.add(document::Chart{"shares", data.size(),
                             "Bar chart: the parts of the loss. The table below has its figures.",
                             data.dump()});
  shares.add(std::move(table));
  return section("loss", "Starvation and contention", to_html(shares));
}

}  // namespace cachebisect::html

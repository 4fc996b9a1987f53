// What the loss consists of.
#include <array>

#include <nlohmann/json.hpp>

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
  Table table("Shares of the ceiling that are lost", {"Part", "Share of ceiling", "<What it is"});
  nlohmann::ordered_json data = nlohmann::ordered_json::array();
  for (const Part& part : parts) {
    table.add({text(part.name), figure(share_figure(part.share)), text(part.meaning)});
    if (part.share.value && part.share.interval)
      data.push_back(chart_value(part.name, part.share, share_figure(part.share)));
  }
  return section("loss", "Starvation and contention",
                 chart("shares", data.size(),
                       "Bar chart: the parts of the loss. The table below has its figures.", data) +
                     table.html());
}

}  // namespace cachebisect::html

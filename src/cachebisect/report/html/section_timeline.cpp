// Every block by the time when it began, so that one sees the noise.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/arm_text.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

/// The blocks of the arms that are called the same, in order of time.
struct Series {
  std::string label;
  std::vector<const BlockRecord*> blocks;
};

/// More would not be told apart, and take too much of the page.
constexpr std::size_t kMaxPoints = 4000;

bool was_timed(const BlockRecord& block) {
  return block.result.samples > 0 && block.result.seconds > 0;
}

double samples_per_second(const BlockRecord& block) { return 1 / block.seconds_per_sample(); }

/// In the order of the arms: live first, then from the first boundary to the last.
std::vector<Series> by_arm(const Report& report) {
  std::map<Arm, std::vector<const BlockRecord*>> arms;
  for (const BlockRecord& block : report.blocks) {
    if (was_timed(block)) arms[block.arm].push_back(&block);
  }
  std::vector<Series> all;
  for (const auto& [arm, blocks] : arms) {
    const std::string label = arm_text(arm, report);
    const auto same = [&](const Series& series) { return series.label == label; };
    auto series = std::find_if(all.begin(), all.end(), same);
    if (series == all.end()) series = all.insert(all.end(), Series{label, {}});
    series->blocks.insert(series->blocks.end(), blocks.begin(), blocks.end());
  }
  return all;
}

double first_start(const Report& report) {
  double first = std::numeric_limits<double>::infinity();
  for (const BlockRecord& block : report.blocks) {
    if (was_timed(block)) first = std::min(first, block.result.start_seconds);
  }
  return first;
}

/// To a thousandth: a picture shows less.
double rounded(double value) { return std::round(value * 1000) / 1000; }

/// Every so many blocks one is drawn.
std::size_t stride_of(const std::vector<Series>& arms) {
  std::size_t blocks = 0;
  for (const Series& series : arms) blocks += series.blocks.size();
  return (blocks + kMaxPoints - 1) / kMaxPoints;
}

Json points(const Series& series, double first, std::size_t stride) {
  Json x = Json::array();
  Json y = Json::array();
  Json seconds = Json::array();
  Json counts = Json::array();
  for (std::size_t i = 0; i < series.blocks.size(); i += stride) {
    const BlockRecord* const block = series.blocks[i];
    x.push_back(rounded(block->result.start_seconds - first));
    y.push_back(rounded(samples_per_second(*block)));
    seconds.push_back(rounded(block->result.seconds));
    counts.push_back(block->is_evidence() ? 1 : 0);
  }
  return {{"label", printable(shortened(series.label, kMaxNameCharacters))},
          {"x", std::move(x)},
          {"y", std::move(y)},
          {"seconds", std::move(seconds)},
          {"counts", std::move(counts)}};
}

document::Row blocks_row(const Series& series) {
  std::vector<double> rates;
  for (const BlockRecord* const block : series.blocks) {
    if (block->is_evidence()) rates.push_back(samples_per_second(*block));
  }
  const std::string left_out = std::to_string(series.blocks.size() - rates.size());
  const document::Text label = document::named(series.label);
  if (rates.empty()) return {label, "0", left_out, kNotMeasured, kNotMeasured, kNotMeasured};
  const Interval range{quantile(rates, 0), quantile(rates, 1)};
  return {label,
          std::to_string(rates.size()),
          left_out,
          format_rate(median(rates), range),
          format_rate(range.low, range),
          format_rate(range.high, range)};
}

std::string timeline_remark(std::size_t stride) {
  std::string remark =
      "Each point is a block of consecutive steps. Pilot blocks and blocks during which the "
      "process was suspended are left out of the figures.";
  if (stride > 1)
    remark += " Of every " + std::to_string(stride) + " blocks of an arm one is drawn.";
  return remark;
}

}  // namespace

Html timeline_section(const Report& report) {
  const std::vector<Series> arms = by_arm(report);
  if (arms.empty()) return {};
  const double first = first_start(report);
  const std::size_t stride = stride_of(arms);
  document::Table table{.columns = {{"arm"},
                                    {"blocks", Align::right},
                                    {"left out", Align::right},
                                    {"median", Align::right},
                                    {"lowest", Align::right},
                                    {"highest", Align::right}},
                        .caption = "Blocks of each arm, in samples/s"};
  Json data = Json::array();
  for (const Series& series : arms) {
    data.push_back(points(series, first, stride));
    table.rows.push_back(blocks_row(series));
  }
  Document timeline;
  timeline.add(document::Paragraph{.text = timeline_remark(stride), .remark = true});
  timeline.add(document::Chart{"timeline", 10,
                               "Scatter chart: throughput of each block by the time when it began. "
                               "The table below sums it up by arm.",
                               data.dump()});
  timeline.add(std::move(table));
  return section("timeline", "Timeline of the blocks", to_html(timeline));
}

}  // namespace cachebisect::html

// The ranks of a distributed job.
#include <utility>

#include "cachebisect/bisect/report/ranks_text.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {

Html ranks_section(const Report& report) {
  if (report.ranks.empty()) return {};
  document::Table table{
      .columns = {{"at their ceiling"}, {"samples/s of each rank", Align::right}},
      .caption = "Samples/s of each rank, with some alone at their ceiling and the others live"};
  for (const RankReport& rank : report.ranks) {
    table.rows.push_back({place_text(report.chain, rank.ranks), rate_figure(rank.payoff)});
  }
  Document ranks;
  ranks.add(std::move(table));
  if (report.verdict.ranks) {
    ranks.say("The others wait for " + place_text(report.chain, *report.verdict.ranks) + ".");
  }
  return section("ranks", "Ranks", to_html(ranks));
}

}  // namespace cachebisect::html

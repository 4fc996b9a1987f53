// The ranks of a distributed job.
#include "cachebisect/bisect/report/ranks_text.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {

Html ranks_section(const Report& report) {
  if (report.ranks.empty()) return {};
  Table table("Samples/s of each rank, with some alone at their ceiling and the others live",
              {"At their ceiling", "Samples/s of each rank"});
  for (const RankReport& rank : report.ranks) {
    table.add({text(place_text(report.chain, rank.ranks)), figure(rate_figure(rank.payoff))});
  }
  Html content = table.html();
  if (report.verdict.ranks) {
    content +=
        paragraph("The others wait for " + place_text(report.chain, *report.verdict.ranks) + ".");
  }
  return section("ranks", "Ranks", content);
}

}  // namespace cachebisect::html

// The ranks of a distributed job.
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {

Html ranks_section(const Report& report) {
  if (report.ranks.empty()) return {};
  Table table("Samples/s of each rank, with one alone at its ceiling and the others live",
              {"Rank at its ceiling", "Samples/s of each rank"});
  for (const RankReport& rank : report.ranks) {
    table.add({text(std::to_string(rank.rank)), figure(rate_figure(rank.payoff))});
  }
  Html content = table.html();
  if (report.verdict.rank) {
    content += paragraph("The others wait for rank " + std::to_string(*report.verdict.rank) + ".");
  }
  return section("ranks", "Ranks", content);
}

}  // namespace cachebisect::html

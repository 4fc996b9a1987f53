#include "cachebisect/bisect/evidence/live_stalls.hpp"

#include <vector>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {

LiveStalls live_stalls(const Measurements& measured) {
  const double confidence = measured.settings.confidence;
  const SustainedRuns& runs = *measured.sustained;
  std::vector<std::vector<Watch>> live{watched_blocks(measured.blocks, 0),
                                       watched_blocks(measured.blocks, 0, false),
                                       groups_of(runs.live)};
  for (const BlockResult& run : runs.shorter_live) live.push_back(groups_of(run));
  const std::vector<std::vector<Watch>> ceiling{watched_blocks(measured.blocks, measured.stages()),
                                                groups_of(runs.ceiling)};
  LiveStalls stalls{.share = stalled_share(live, confidence)};
  stalls.of_machine = stalled_share(ceiling, confidence).share >= kMostOf * stalls.share.share;
  return stalls;
}

bool stalls_outweigh(const Measurements& measured, const Findings& findings,
                     const Decision& decision) {
  if (!measured.sustained || decision.kind != VerdictKind::drop || !decision.part) return false;
  if (findings.lose_in_stalls()) return false;
  const LiveStalls stalls = live_stalls(measured);
  // One stall tells nothing of the next.
  return !stalls.of_machine && stalls.share.stalls > 1 &&
         stalls.share.share > findings.parts[*decision.part].median_drop;
}

}  // namespace cachebisect

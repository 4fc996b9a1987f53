#include "cachebisect/bisect/report/replay_warnings.hpp"

#include <set>
#include <string>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {

std::vector<Warning> find_replay_warnings(const Measurements& measured, const VerdictState& state) {
  std::vector<Warning> out;
  std::set<int> named;
  for (const Distortion& distortion : state.distortions) {
    if (!distortion.certified || !named.insert(distortion.stage).second) continue;
    const auto stage = static_cast<std::size_t>(distortion.stage) - 1;
    const std::string takes = measured.chain.stages.at(stage).name + " takes " +
                              short_duration(distortion.live_seconds) + " per sample live and " +
                              short_duration(distortion.replayed_seconds) + " replayed: ";
    if (distortion.share > 0) {
      out.push_back({"not_representative",
                     takes + "it remembers samples, or what it needs is ready the second time. "
                             "Boundaries before it are not used, and its part is named together "
                             "with the stages before it",
                     "read its cost from the live time per sample"});
    } else {
      out.push_back({"not_representative",
                     takes + "its input comes from memory there, and live from the processor's "
                             "cache. It is measured together with the stage before it",
                     ""});
    }
  }
  for (const Finding& part : state.findings.parts) {
    if (!part.not_stationary) continue;
    out.push_back(
        {"not_stationary",
         "no constant drop explains the rounds at " + part_name(measured.chain, part.part) +
             ": it changed while it was measured, and no interval is given",
         "find out what changed (a cache that filled, another program), and measure again"});
  }
  return out;
}

}  // namespace cachebisect

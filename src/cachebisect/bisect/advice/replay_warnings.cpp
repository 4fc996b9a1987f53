#include "cachebisect/bisect/advice/replay_warnings.hpp"

#include <set>
#include <string>
#include <utility>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

Warning not_stationary(const std::string& where) {
  return {"not_stationary",
          "no constant drop explains the rounds " + where +
              ": it changed while it was measured, and no interval is given",
          "find out what changed (a cache that filled, another program), and measure again"};
}

/// The whole chain is only worth a warning if no part of it has one.
std::vector<Warning> find_changes(const ChainDescription& chain, const Findings& findings) {
  std::vector<Warning> out;
  for (const Finding& part : findings.parts) {
    if (part.not_stationary) out.push_back(not_stationary("at " + part_name(chain, part.part)));
  }
  if (out.empty() && findings.whole.not_stationary) {
    out.push_back(not_stationary("of the whole chain, from the training step alone to live"));
  }
  return out;
}

/// Parts that are slower from the cache, next to a verdict that they do not concern.
std::vector<Warning> find_slow_caches(const ChainDescription& chain, const VerdictState& state) {
  std::vector<Warning> out;
  if (state.decision.kind == VerdictKind::anomaly) return out;
  for (const Finding& part : state.findings.parts) {
    if (!part.slower_cached) continue;
    out.push_back({"slower_cached",
                   "serving the output of " + part_name(chain, part.part) +
                       " from the cache is slower than running it, by " +
                       percent(-part.median_drop) +
                       ": the cache may not fit into the processor's, or the clock changed",
                   "do not act on its figures; the verdict does not rest on them"});
  }
  return out;
}

std::string live_and_replayed(const ChainDescription& chain, const Distortion& distortion) {
  const auto stage = static_cast<std::size_t>(distortion.stage) - 1;
  return chain.stages.at(stage).name + " takes " + short_duration(distortion.live_seconds) +
         " per sample live and " + short_duration(distortion.replayed_seconds) + " replayed";
}

/// Stages that those before them slow down.
std::vector<Warning> find_slowed(const ChainDescription& chain, const VerdictState& state) {
  std::vector<Warning> out;
  std::set<int> named;
  for (const Distortion& slowed : state.slowed) {
    if (!named.insert(slowed.stage).second) continue;
    out.push_back({"slowed_live",
                   live_and_replayed(chain, slowed) +
                       ", with samples that it has never had too: the stages before it slow it "
                       "down while they run (processor cache, memory, cores). What they cost "
                       "includes that",
                   ""});
  }
  return out;
}

}  // namespace

std::vector<Warning> find_replay_warnings(const Measurements& measured, const VerdictState& state) {
  std::vector<Warning> out;
  std::set<int> named;
  for (const Distortion& distortion : state.distortions) {
    if (!distortion.certified || !named.insert(distortion.stage).second) continue;
    const std::string takes = live_and_replayed(measured.chain, distortion) + ": ";
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
  for (Warning& warning : find_slowed(measured.chain, state)) out.push_back(std::move(warning));
  for (Warning& warning : find_changes(measured.chain, state.findings)) {
    out.push_back(std::move(warning));
  }
  for (Warning& warning : find_slow_caches(measured.chain, state)) {
    out.push_back(std::move(warning));
  }
  return out;
}

}  // namespace cachebisect

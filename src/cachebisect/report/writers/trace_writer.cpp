// The blocks of a report as a Chrome trace: what was measured when, on a track per kind of arm.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/format/trace_events.hpp"
#include "cachebisect/report/json/trace_facts.hpp"
#include "cachebisect/report/words/arm_text.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

using Json = TraceEvents::Json;
/// By number, in order of time.
using BlockTracks = std::map<std::int64_t, std::vector<const BlockRecord*>>;

/// Any: the report has no process of its own.
constexpr std::int64_t kProcess = 1;

bool has_time(const BlockRecord& block) {
  // 250 years, which nanoseconds still count.
  constexpr double kMostSeconds = 8e9;
  const BlockResult& result = block.result;
  return std::abs(result.start_seconds) < kMostSeconds && result.seconds >= 0 &&
         result.seconds < kMostSeconds;
}

std::int64_t trace_time(double seconds) { return std::llround(seconds * 1e9); }

/// Replays by boundary from live on, then the other kinds.
std::int64_t track_of(const Arm& arm, const Report& report) {
  const auto last = static_cast<std::int64_t>(report.boundaries.size());
  if (arm.kind == ArmKind::replay) return std::clamp<std::int64_t>(arm.boundary, 0, last);
  return last + static_cast<std::int64_t>(arm.kind);
}

/// What the blocks of a track have in common.
std::string track_title(const Arm& arm, const Report& report) {
  switch (arm.kind) {
    case ArmKind::replay:
      return std::to_string(arm.boundary) + ": " + arm_text({.boundary = arm.boundary}, report);
    case ArmKind::bypass:
      return "live, but one stage is free";
    case ArmKind::live:
      return "live with changes";
    case ArmKind::unseen:
      return "replayed, from samples that no later stage has had";
    case ArmKind::shadow:
    case ArmKind::null:
      break;
  }
  return arm_text(arm, report);
}

BlockTracks tracks_of(const Report& report) {
  BlockTracks tracks;
  for (const BlockRecord& block : report.blocks) {
    if (has_time(block)) tracks[track_of(block.arm, report)].push_back(&block);
  }
  for (auto& [number, blocks] : tracks) {
    std::stable_sort(blocks.begin(), blocks.end(), [](const BlockRecord* a, const BlockRecord* b) {
      return a->result.start_seconds < b->result.start_seconds;
    });
  }
  return tracks;
}

/// What is not known of a block is left out.
Json block_args(const BlockRecord& block) {
  const BlockResult& result = block.result;
  Json args{{"round", block.round}, {"arm", to_string(block.arm.kind)}};
  if (block.arm.has_boundary()) args["boundary"] = block.arm.boundary;
  if (block.arm.stage > 0) args["stage"] = block.arm.stage;
  if (block.arm.ranks.is_single()) args["rank"] = block.arm.ranks.first;
  if (!block.arm.ranks.is_all()) args["ranks"] = block.arm.ranks.count;
  args["steps"] = result.steps;
  args["warmup_steps"] = result.warmup_steps;
  args["samples"] = result.samples;
  args["seconds"] = result.seconds;
  if (result.samples > 0 && result.seconds > 0) {
    args["samples_per_second"] = 1 / block.seconds_per_sample();
  }
  args["starved_seconds"] = json_values::number(result.starved_seconds);
  args["void"] = result.is_void;
  return args;
}

/// A slice ends where the next one of its track begins, whatever a replayer's clock says.
void add_slices(TraceEvents& trace, std::int64_t track,
                const std::vector<const BlockRecord*>& blocks, const Report& report) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockRecord& block = *blocks[i];
    const std::int64_t begin = trace_time(block.result.start_seconds);
    std::int64_t end = begin + trace_time(block.result.seconds);
    if (i + 1 < blocks.size()) end = std::min(end, trace_time(blocks[i + 1]->result.start_seconds));
    trace.slice(track, arm_text(block.arm, report), to_string(block.arm.kind), begin, end,
                block_args(block));
  }
}

Json trace_header(const Report& report) {
  Json facts = trace_facts(report.chain);
  facts["started"] = report.started;
  facts["verdict"] = report.verdict.text;
  return {{"schemaVersion", 1}, {"displayTimeUnit", "ms"}, {"cachebisect", std::move(facts)}};
}

}  // namespace

std::string to_trace(const Report& report) {
  TraceEvents trace(0, kProcess);
  trace.name_process("cachebisect: " + report.chain.name);
  for (const auto& [track, blocks] : tracks_of(report)) {
    trace.name_track(track + 1, track_title(blocks.front()->arm, report));
    add_slices(trace, track + 1, blocks, report);
  }
  return trace.to_text(trace_header(report));
}

}  // namespace cachebisect

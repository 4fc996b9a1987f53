// The blocks of a report as a Chrome trace.
#include <cmath>
#include <limits>
#include <string>

#include "golden/hostile_report.hpp"
#include "golden/sample_report.hpp"
#include "support/chrome_trace.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/utf8.hpp"
#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

BlockRecord block_of(const Arm& arm, double start_seconds, double seconds, int round = 0) {
  BlockRecord block;
  block.arm = arm;
  block.round = round;
  block.result = {.start_seconds = start_seconds,
                  .seconds = seconds,
                  .steps = 8,
                  .warmup_steps = 2,
                  .samples = 512,
                  .starved_seconds = seconds / 4};
  return block;
}

/// A report on the sample report's chain: four stages.
Report report_of(const std::vector<BlockRecord>& blocks) {
  Report report = sample_report();
  report.blocks = blocks;
  return report;
}

json trace_of(const Report& report) { return json::parse(to_trace(report)); }

/// By the names of the tracks, in their order.
std::vector<std::string> track_names(const json& trace) {
  std::map<int, std::string> names;
  for (const json& event : trace_events_named(trace, "thread_name")) {
    names[event["tid"].get<int>()] = event["args"]["name"].get<std::string>();
  }
  std::vector<std::string> ordered;
  for (const auto& [track, name] : names) ordered.push_back(name);
  return ordered;
}

}  // namespace

TEST_CASE("a block is a slice at its time, with what was measured") {
  BlockRecord block = block_of({.boundary = 2}, 1.5, 0.25, 3);
  block.result.is_void = true;
  const json trace = trace_of(report_of({block}));
  const auto slices = trace_events_named(trace, "replayed after decode");
  REQUIRE(slices.size() == 1);
  const json& slice = slices.front();
  CHECK(slice["ph"] == "X");
  CHECK(slice["cat"] == "replay");
  CHECK(slice["ts"] == 1.5e6);
  CHECK(slice["dur"] == 0.25e6);
  const json expected{{"round", 3},
                      {"arm", "replay"},
                      {"boundary", 2},
                      {"steps", 8},
                      {"warmup_steps", 2},
                      {"samples", 512},
                      {"seconds", 0.25},
                      {"samples_per_second", 2048.0},
                      {"starved_seconds", 0.0625},
                      {"void", true}};
  CHECK(slice["args"] == expected);
}

TEST_CASE("each kind of arm has a track, replays one per boundary from live on") {
  const json trace = trace_of(report_of({
      block_of({.kind = ArmKind::null, .boundary = 4}, 7, 0.1),
      block_of({.kind = ArmKind::live, .overrides = {{"/workers", "4"}}}, 6, 0.1),
      block_of({.kind = ArmKind::shadow}, 5, 0.1),
      block_of({.kind = ArmKind::bypass, .stage = 2}, 4, 0.1),
      block_of({.kind = ArmKind::bypass, .stage = 1}, 3, 0.1),
      block_of({.boundary = 4}, 2, 0.1),
      block_of({.boundary = 2}, 1, 0.1),
      block_of({}, 0, 0.1),
  }));
  CHECK(track_names(trace) ==
        std::vector<std::string>{"0: live", "2: replayed after decode", "4: step alone",
                                 "live, but one stage is free", "loading alongside the step alone",
                                 "live with changes", "repeated, to see the noise"});
  const auto bypasses = trace_events_named(trace, "live, but decode is free");
  REQUIRE(bypasses.size() == 1);
  CHECK(bypasses.front()["args"]["stage"] == 2);
  CHECK_FALSE(bypasses.front()["args"].contains("boundary"));
  CHECK(trace_events_named(trace, "live with /workers = 4").size() == 1);
  CHECK(trace_tracks(trace).size() == 7);
}

TEST_CASE("slices of a track do not overlap, whatever the clock of a replayer says") {
  const json trace = trace_of(report_of({block_of({}, 1.2, 0.5), block_of({}, 1, 0.5),
                                         block_of({}, 1.2, 0.1), block_of({}, 1.3, 0)}));
  const auto tracks = trace_tracks(trace);
  REQUIRE(tracks.size() == 1);
  const auto& slices = tracks.begin()->second;
  CHECK(slices.size() == 4);
  CHECK(trace_crossings(slices) == 0);
  CHECK(trace_events_named(trace, "live").front()["args"]["seconds"] == 0.5);
}

TEST_CASE("a block without a time is left out, and one that measured nothing has no throughput") {
  BlockRecord nothing = block_of({}, 1, 0);
  nothing.result.samples = 0;
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const json trace = trace_of(report_of({nothing, block_of({}, nan, 1), block_of({}, 1, inf),
                                         block_of({}, 1e300, 1), block_of({}, 1, -1)}));
  const auto slices = trace_events_named(trace, "live");
  REQUIRE(slices.size() == 1);
  CHECK_FALSE(slices.front()["args"].contains("samples_per_second"));
}

TEST_CASE("no name can break the trace of a report") {
  Report report = hostile_report();
  report.blocks = {block_of({.boundary = 2}, 1, 0.1), block_of({.boundary = 99}, 2, 0.1),
                   block_of({.boundary = -3}, 3, 0.1)};
  const std::string text = to_trace(report);
  CHECK_FALSE(first_invalid_utf8(text));
  const json trace = json::parse(text);
  CHECK(trace_tracks(trace).size() == 3);
  CHECK(trace["cachebisect"]["device"].get<std::string>().starts_with("=\"a'"));
}

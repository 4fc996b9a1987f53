// The Chrome trace of a profile, by the rules that its readers enforce.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "support/chrome_trace.hpp"
#include "support/starved_job.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/utf8.hpp"
#include "cachebisect/profile/profile.hpp"
#include "cachebisect/profile/trace_writer.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using nlohmann::json;
using test::starved_job;
using test::trace_crossings;
using test::trace_events_named;
using test::trace_nanoseconds;
using test::trace_tracks;

namespace {

const Options kTraced{.trace = true, .active = 12, .repeat = 2};

}  // namespace

TEST_CASE("slices of a track nest, each has args, and each worker has a track") {
  for (const int workers : {0, 1, 2}) {
    CAPTURE(workers);
    const json trace = json::parse(trace_json(run(starved_job(workers), kTraced)));
    REQUIRE(trace.is_object());
    const auto tracks = trace_tracks(trace);
    for (const auto& [track, slices] : tracks) {
      CAPTURE(track);
      CHECK(trace_crossings(slices) == 0);
    }
    std::set<std::int64_t> loading;
    for (const json& event : trace_events_named(trace, "slow")) {
      loading.insert(event["tid"].get<std::int64_t>());
      CHECK(event["cat"] == "stage");
      CHECK(event["args"]["type"] == "synthetic.wait");
    }
    CHECK(loading.size() == static_cast<std::size_t>(std::max(workers, 1)));
  }
}

TEST_CASE("steps are numbered over the cycles, and waits have the name that tools look for") {
  const json trace = json::parse(trace_json(run(starved_job(1), kTraced)));
  for (int step = 0; step < 24; ++step) {
    CHECK(trace_events_named(trace, "ProfilerStep#" + std::to_string(step)).size() == 1);
  }
  CHECK(trace_events_named(trace, "ProfilerStep#24").empty());
  const auto waits = trace_events_named(trace, "enumerate(DataLoader)#cachebisect.__next__");
  CHECK(waits.size() <= 24);  // batches that are copied ahead are not waited for
  CHECK_FALSE(waits.empty());
  for (const json& wait : waits) CHECK(wait["cat"] == "cpu_op");
  CHECK(trace_events_named(trace, "starved").size() <= waits.size());
}

TEST_CASE("the emulated device's steps are as long as planted, and the ring holds what it can") {
  const json trace = json::parse(trace_json(run(starved_job(1), kTraced)));
  int steps = 0;
  for (const json& event : trace_events_named(trace, "step")) {
    if (event["cat"] != "emulated_device") continue;
    CHECK(trace_nanoseconds(event["dur"]) == doctest::Approx(2e6).epsilon(1e-4));
    ++steps;
  }
  CHECK(steps == 24);
  const auto counts = trace_events_named(trace, "ring");
  CHECK_FALSE(counts.empty());
  for (const json& count : counts) {
    CHECK(count["ph"] == "C");
    const auto ready = count["args"]["batches ready"].get<int>();
    CHECK(ready >= 0);
    CHECK(ready <= 4);  // slots of one worker
  }
}

TEST_CASE("no name can break the trace") {
  Profile profile = run(starved_job(1), kTraced);
  const std::string hostile = "\"}],\n</script>\x01\xff" + std::string(10'000, 'x');
  profile.chain.stages[1].name = hostile;
  profile.chain.name = hostile;
  profile.chain.train = hostile;
  const std::string text = trace_json(profile);
  CHECK_FALSE(first_invalid_utf8(text));
  const json trace = json::parse(text);
  CHECK(trace["cachebisect"]["pipeline"].get<std::string>().starts_with("\"}],\n</script>\x01"));
  CHECK(trace_tracks(trace).size() >= 4);
}

TEST_CASE("a trace of LibTorch is merged on one clock, and a damaged one refused") {
  Profile profile = run(starved_job(1), kTraced);
  const Cycle& first = profile.recorded.front();
  const std::int64_t begin = system_time(first, first.begin);
  const std::int64_t base = begin - 5'000'000'000;
  const auto trace_from = [](std::int64_t nanoseconds) {
    const json event{{"ph", "X"}, {"cat", "cpu_op"},  {"name", "aten::mm"}, {"pid", 7},
                     {"tid", 8},  {"ts", 5000010.25}, {"dur", 3.5}};
    return json{{"baseTimeNanoseconds", nanoseconds},
                {"deviceProperties", json::array()},
                {"traceName", "/tmp/scratch/trace.json"},
                {"traceEvents", json::array({event})}}
        .dump();
  };
  profile.recorded[0].step_trace = trace_from(base);
  profile.recorded[1].step_trace = trace_from(base + 2000);
  const json trace = json::parse(trace_json(profile));
  CHECK(trace["baseTimeNanoseconds"] == begin);
  CHECK(trace.contains("deviceProperties"));
  CHECK_FALSE(trace.contains("traceName"));
  const auto operators = trace_events_named(trace, "aten::mm");
  REQUIRE(operators.size() == 2);
  CHECK(operators[0]["ts"] == 10.25);
  CHECK(operators[1]["ts"] == 12.25);  // two microseconds later
  CHECK(operators[0]["dur"] == 3.5);
  CHECK(operators[0]["args"].is_object());
  profile.recorded[0].step_trace = "{\"traceEvents\": [";
  CHECK_THROWS_AS((void)trace_json(profile), Error);
}

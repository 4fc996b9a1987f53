#include <string>

#include "support/chrome_trace.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/profile/loading_group.hpp"
#include "cachebisect/profile/profile_text.hpp"
#include "cachebisect/profile/script_groups.hpp"
#include "cachebisect/profile/trace_writer.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using nlohmann::json;
using test::has;

namespace {

constexpr std::int64_t kBegin = 1'790'000'000'000'000'000;  // of the system clock

/// Two workers and a second in which one of them fetches two batches, the other one.
json loading_of_two_workers() {
  return {{"begin_ns", kBegin},
          {"seconds", 1.0},
          {"workers",
           {{{"began", {0, 0.5}}, {"collating", {0.25, 0.75}}, {"ended", {0.375, 1}}},
            {{"began", {0.5}}, {"collating", {0.75}}, {"ended", {0.875}}}}}};
}

ScriptLoop timed_script(int workers) {
  BatchTimes batch;
  batch.total_seconds = 1;
  batch.of(TimePart::load) = 0.9375;
  return {
      .name = "train.py", .device = "CPU", .batch_size = 4, .workers = workers, .batches = {batch}};
}

/// What LibTorch writes, with one operator that begins as many microseconds after kBegin.
std::string torch_trace(int microseconds) {
  return json{{"baseTimeNanoseconds", kBegin},
              {"traceEvents",
               {{{"ph", "X"},
                 {"cat", "cpu_op"},
                 {"name", "aten::add"},
                 {"pid", 1},
                 {"tid", 1},
                 {"ts", microseconds},
                 {"dur", 10},
                 {"args", json::object()}}}}}
      .dump();
}

}  // namespace

TEST_CASE("the time of workers is divided into dataset, collate_fn and the rest") {
  const ScriptLoading loading = read_script_loading(loading_of_two_workers().dump());
  const Profile profile = profile_of_script(timed_script(2), loading, "", {});
  REQUIRE(profile.groups.size() == 2);
  const ActionGroup& group = profile.groups[1];
  CHECK(group.title == "2 workers");
  CHECK(group.seconds == 2);
  REQUIRE(group.actions.size() == 3);
  CHECK(group.actions[0].name == "dataset");
  CHECK(group.actions[0].calls == 3);
  CHECK(group.actions[0].seconds == 0.75);
  CHECK(group.actions[1].name == "collate_fn");
  CHECK(group.actions[1].calls == 3);
  CHECK(group.actions[1].seconds == 0.5);
  CHECK(group.actions[2].seconds == 0.75);
  CHECK(has(to_text(profile), "send, wait for a request, other"));
}

TEST_CASE("without workers, it is that of load which is divided") {
  json one = loading_of_two_workers();
  one["workers"].erase(1);
  const Profile profile =
      profile_of_script(timed_script(0), read_script_loading(one.dump()), "", {});
  REQUIRE(profile.groups.size() == 2);
  CHECK(profile.groups[1].title == "within load");
  CHECK(profile.groups[1].seconds == 0.9375);
  CHECK(profile.groups[1].actions[2].name == "other");
  CHECK(profile.groups[1].actions[2].seconds == 0.0625);
}

TEST_CASE("a loader of which nothing is known has no group and no track") {
  const std::string text = R"({"begin_ns": 0, "seconds": 0, "workers": []})";
  const Profile profile =
      profile_of_script(timed_script(2), read_script_loading(text), torch_trace(0), {});
  CHECK(profile.groups.size() == 1);
  CHECK_FALSE(has(trace_json(profile), "cachebisect: worker"));
}

TEST_CASE("workers have tracks on the clock of LibTorch's trace") {
  const ScriptLoading loading = read_script_loading(loading_of_two_workers().dump());
  for (const int begin : {-300, 0, 300}) {
    CAPTURE(begin);
    const Profile profile =
        profile_of_script(timed_script(2), loading, torch_trace(begin), {.trace = true});
    const json trace = json::parse(trace_json(profile));
    for (const auto& [track, slices] : test::trace_tracks(trace)) {
      CAPTURE(track);
      CHECK(test::trace_crossings(slices) == 0);
    }
    const auto operators = test::trace_events_named(trace, "aten::add");
    const auto batches = test::trace_events_named(trace, "dataset");
    REQUIRE(operators.size() == 1);
    REQUIRE(batches.size() == 3);
    CHECK(test::trace_events_named(trace, "collate_fn").size() == 3);
    CHECK(operators[0]["ts"].get<double>() >= 0);
    CHECK(batches[1]["ts"].get<double>() - operators[0]["ts"].get<double>() == 500'000 - begin);
    CHECK(batches[1]["dur"] == 250'000);
    CHECK(batches[1]["args"]["batch"] == 1);
    CHECK(batches[1]["tid"] != batches[2]["tid"]);
    CHECK(test::trace_events_named(trace, "ProfilerStep#0").empty());
  }
}

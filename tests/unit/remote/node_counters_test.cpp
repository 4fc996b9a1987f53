// The counters of another machine, in the words of its relay.
#include "cachebisect/remote/node_counters.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

MachineReading some_counters() {
  return {.seconds = 12.5,
          .own_cpu_seconds = 3.25,
          .times = CpuTimes{.total = 4000, .steal = 7, .busy = 900, .cpus = 8},
          .ticks_per_second = 250,
          .clock_mhz = 3100,
          .clock_measured = true,
          .quota_periods = 125,
          .throttled_periods = 5,
          .quota_period_seconds = 0.1,
          .quota_cpus = 2.5,
          .memory_stall_seconds = 0.75};
}

/// As it arrives: numbers without a sign are then known to have none.
json sent_by_a_relay() { return json::parse(counters_json(some_counters()).dump()); }

}  // namespace

TEST_CASE("counters arrive as they were read") {
  const json sent = sent_by_a_relay();
  const auto counters = read_counters(sent);
  REQUIRE(counters);
  CHECK(json::parse(counters_json(*counters).dump()) == sent);
  CHECK(counters->times->busy == 900);
  CHECK(*counters->quota_cpus == 2.5);
}

TEST_CASE("what a machine does not count stays unknown") {
  const auto counters = read_counters(counters_json({}));
  REQUIRE(counters);
  CHECK_FALSE(counters->times);
  CHECK_FALSE(counters->clock_mhz);
  CHECK_FALSE(counters->quota_periods);
  CHECK_FALSE(counters->memory_stall_seconds);
}

TEST_CASE("a relay that tells nothing is no error, and wrong counters are named") {
  CHECK_FALSE(read_counters(json::object()));
  json sent = sent_by_a_relay();
  const auto refused = [&] {
    return error_message([&] { static_cast<void>(read_counters(sent)); }, ErrorKind::internal);
  };
  sent["counters"]["ticks_per_second"] = 0;
  CHECK(has(refused(), "ticks_per_second"));
  sent["counters"]["ticks_per_second"] = 100;
  sent["counters"]["cpu_ticks"]["busy"] = -1;
  CHECK(has(refused(), "busy"));
}

TEST_CASE("ranks that do not tell their CPU time count as idle") {
  const std::vector<json> answers{{{"own_cpu_seconds", 1.5}}, json::object()};
  CHECK(own_cpu_seconds_of(answers) == 1.5);
}

#include "cachebisect/timing/script_times.hpp"

#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

TEST_CASE("the record of a script has its batches, and a command that a shell reads") {
  const ScriptLoop loop{.name = "a b.py",
                        .device = "CPU",
                        .torch = "2.11",
                        .batch_size = 4,
                        .workers = 2,
                        .batches = {{.samples = 4, .total_seconds = 1}},
                        .call_seconds = 1e-6};
  const TimingRecord record =
      timing_record_of(loop, {"python", "a b.py", "--x=it's", ""}, {.epochs = 3});
  CHECK(record.bisect_command == "cachebisect run -- python 'a b.py' '--x=it'\\''s' ''");
  CHECK(has(record.config_json, R"("a b.py")"));
  CHECK(has(record.config_json, R"("torch":"2.11")"));
  CHECK(record.of_script);
  CHECK(record.epochs == 3);
  REQUIRE(record.runs.size() == 1);
  CHECK(record.runs[0].workers == 2);
  CHECK(record.runs[0].batches.size() == 1);
  CHECK(record.runs[0].cost.call_seconds == 1e-6);
  CHECK(record.parts == std::vector{TimePart::load, TimePart::forward, TimePart::backward,
                                    TimePart::optimizer, TimePart::other});
}

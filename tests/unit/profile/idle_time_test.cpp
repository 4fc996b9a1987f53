// When the device was idle in cycles whose times are given.
#include "cachebisect/profile/idle_time.hpp"

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/profile/operator_table.hpp"
#include "cachebisect/profile/step_trace.hpp"

using namespace cachebisect;
using namespace cachebisect::profile;
using test::has;

namespace {

/// Two periods of 10 s: a wait of 4 s, a copy of 2 s, a second until the step, a step of 3 s.
Cycle emulated_cycle() {
  Cycle cycle;
  cycle.begin = 0;
  cycle.end = 30;
  for (int i = 0; i < 3; ++i) {
    const double at = 10 * i;
    cycle.device.push_back({at, at + 3, 0, /*is_copy=*/false});
    cycle.loop.push_back({at + 3, at + 7, 0, LoopWork::load, true});
    cycle.loop.push_back({at + 7, at + 7.5, 0, LoopWork::copy, false});
    cycle.device.push_back({at + 7, at + 9, 0, /*is_copy=*/true});
  }
  return cycle;
}

}  // namespace

TEST_CASE("gaps between steps are told apart by what happened in them") {
  const auto idle = idle_time({emulated_cycle()}, DeviceKind::emulated);
  REQUIRE(idle);
  CHECK(idle->total == doctest::Approx(20));
  CHECK(idle->loading == doctest::Approx(8));
  CHECK(idle->copying == doctest::Approx(4));
  CHECK(idle->queueing == doctest::Approx(2));
  const std::string text = idle_text(*idle, DeviceKind::emulated);
  CHECK(has(text, "ran no step for 70% of the time: 40% while the training thread waited"));
  CHECK(has(text, "20% while a batch was copied, 10% between"));
}

TEST_CASE("steps that follow one another leave no gap, and one step tells nothing") {
  Cycle cycle;
  cycle.end = 9;
  for (int i = 0; i < 3; ++i) {
    cycle.device.push_back({3.0 * i, 3.0 * i + 3, 0, /*is_copy=*/false});
  }
  const auto idle = idle_time({cycle}, DeviceKind::emulated);
  REQUIRE(idle);
  CHECK(idle->idle() == 0);
  CHECK(has(idle_text(*idle, DeviceKind::emulated), "busy with steps all the time"));
  cycle.device.resize(1);
  CHECK_FALSE(idle_time({cycle}, DeviceKind::emulated));
  CHECK_FALSE(idle_time({}, DeviceKind::cpu));
}

TEST_CASE("on the cpu the training thread's steps count, in the whole cycle") {
  Cycle cycle;
  cycle.end = 10;
  cycle.loop = {{0, 4, 0, LoopWork::load, true}, {4, 9, 0, LoopWork::step, false}};
  const auto idle = idle_time({cycle}, DeviceKind::cpu);
  REQUIRE(idle);
  CHECK(idle->loading == 4);
  CHECK(idle->queueing == 1);
}

TEST_CASE("kernels, copies, operators and the peak of memory are read from LibTorch's trace") {
  using nlohmann::json;
  const auto slice = [](const char* category, const char* name, double begin, double seconds) {
    return json{{"ph", "X"}, {"cat", category},   {"name", name},        {"pid", 1},
                {"tid", 2},  {"ts", begin * 1e6}, {"dur", seconds * 1e6}};
  };
  const json memory{{"ph", "i"},
                    {"name", "[memory]"},
                    {"ts", 0},
                    {"args", {{"Total Allocated", 4096}, {"Device Type", 1}, {"Device Id", 3}}}};
  Cycle cycle;
  cycle.end = 10;
  cycle.step_trace = json{
      {"traceEvents",
       {slice("kernel", "gemm", 1, 1), slice("kernel", "gemm", 5, 1),
        slice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 3, 2),
        slice("cpu_op", "aten::linear", 0, 4), slice("cpu_op", "aten::mm", 1, 2),
        slice("cpu_op", "aten::mm", 5, 1),
        memory}}}.dump();
  cycle.loop = {{0, 4.5, 0, LoopWork::forward, false}, {4.5, 9, 0, LoopWork::backward, false}};
  const auto idle = idle_time({cycle}, DeviceKind::cuda);
  REQUIRE(idle);
  CHECK(idle->total == doctest::Approx(4));
  CHECK(idle->copying == doctest::Approx(2));
  CHECK(idle->queueing == doctest::Approx(1));
  CHECK(read_step_trace(cycle.step_trace).peak_bytes.at("GPU 3") == 4096);

  std::vector<CallRow> rows = operator_rows({cycle});
  sort_rows(rows, CallOrder::total);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "aten::linear");
  CHECK(rows[0].total_seconds == doctest::Approx(4));
  CHECK(rows[0].self_seconds == doctest::Approx(2));
  CHECK(rows[1].path == "aten::linear");
  CHECK(rows[1].where == "forward");
  CHECK(rows[2].where == "backward");
  CHECK(rows[2].path.empty());
  sort_rows(rows, CallOrder::self);
  CHECK(rows[2].self_seconds == doctest::Approx(1));
}

TEST_CASE("a trace whose events are no events is refused") {
  using nlohmann::json;
  const auto refusal = [](const json& events) {
    const std::string text = json{{"traceEvents", events}}.dump();
    return test::error_message([&] { static_cast<void>(read_step_trace(text)); }, ErrorKind::data);
  };
  const json sound = {{"ph", "X"}, {"cat", "cpu_op"}, {"name", "a"},
                      {"ts", 1},   {"dur", 2},        {"tid", 3}};
  CHECK(refusal(json::array({sound})).empty());
  CHECK(has(refusal(json::array({"text"})), "an event that is no object"));
  const std::string deep =
      R"({"traceEvents": [)" + std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(has(test::error_message([&] { static_cast<void>(read_step_trace(deep + "]}")); },
                                ErrorKind::data),
            "nested too deep"));
  for (const char* const key : {"cat", "name", "ph", "ts", "dur", "args"}) {
    json damaged = sound;
    damaged[key] = json::array();
    CHECK(has(refusal(json::array({damaged})), "damaged " + std::string(key)));
  }
  json late = sound;
  late["ts"] = 1e300;
  CHECK(has(refusal(json::array({late})), "damaged ts"));
  json without = sound;
  without.erase("tid");
  CHECK(has(refusal(json::array({without})), "without tid"));
  const json based = {{"baseTimeNanoseconds", 1e30}, {"traceEvents", json::array()}};
  CHECK(has(test::error_message([&] { static_cast<void>(read_step_trace(based.dump())); },
                                ErrorKind::data),
            "baseTimeNanoseconds"));
}

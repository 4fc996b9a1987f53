#include "cachebisect/bisect/report/warnings.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/bisect/report/near_floor.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

/// 1 ms a step at batch 8; the crop costs half of the throughput: 62 us of worker time a sample too
/// much.
SimulatedChain starved_chain() {
  SimulatedChain chain;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "crop", .category = Category::augment, .seconds = 0.5e-3},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  chain.batch_size = 8;
  chain.step_seconds = 1e-3;
  return chain;
}

/// What a test plants beside the chain.
struct Planted {
  std::optional<double> usable_cpus;
  std::optional<double> floor_per_sample;
  std::optional<double> floor_per_batch;
  std::optional<double> resident_share;          ///< of what each block reads
  std::function<void(MachineReading&)> disturb;  ///< given the time of each reading
};

/// A simulated chain on a machine of which a test says what it sees.
class PlantedMachine final : public Replayer {
 public:
  PlantedMachine(SimulatedChain chain, Planted planted)
      : inner_(std::move(chain), {.noise = {.white_cv = 0.01}}), planted_(std::move(planted)) {}

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription chain = inner_.describe();
    if (planted_.usable_cpus) chain.usable_cpus = planted_.usable_cpus;
    return chain;
  }
  [[nodiscard]] bool supports(const Arm& arm) const override { return inner_.supports(arm); }
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    CacheFacts facts = inner_.prepare(budget, stop);
    facts.floor_seconds_per_sample = planted_.floor_per_sample;
    facts.floor_seconds_per_batch = planted_.floor_per_batch;
    return facts;
  }
  void begin_round() override { inner_.begin_round(); }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockResult result = inner_.run(request, stop);
    result.resident_share = planted_.resident_share;
    return result;
  }
  [[nodiscard]] double clock() const override { return inner_.clock(); }
  [[nodiscard]] MachineReading read_machine() const override {
    MachineReading reading = inner_.read_machine();
    if (planted_.disturb) planted_.disturb(reading);
    return reading;
  }

 private:
  SimulatedReplayer inner_;
  Planted planted_;
};

Report run(const Planted& planted, const BisectOptions& options = {},
           const SimulatedChain& chain = starved_chain()) {
  PlantedMachine machine(chain, planted);
  return bisect(machine, options);
}

const Warning* find(const Report& report, const std::string& code) {
  const auto found = std::find_if(report.warnings.begin(), report.warnings.end(),
                                  [&](const Warning& warning) { return warning.code == code; });
  return found == report.warnings.end() ? nullptr : &*found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two CPUs of which `other` are busy with other processes.
Planted with_other_load(double other) {
  return {.usable_cpus = 2, .disturb = [other](MachineReading& reading) {
            reading.own_cpu_seconds = reading.seconds;
            reading.times = CpuTimes{
                .total = static_cast<std::uint64_t>(200 * (reading.seconds + 100)),
                .busy = static_cast<std::uint64_t>(100 * (1 + other) * (reading.seconds + 100)),
                .cpus = 2};
          }};
}

}  // namespace

TEST_CASE("a quiet machine of whole CPUs is not warned of") {
  const Report report = run({.usable_cpus = 4});
  for (const char* const code : {"other_load", "frequency", "throttled", "steal", "memory_pressure",
                                 "fractional_cpus", "near_floor"}) {
    CAPTURE(code);
    CHECK(find(report, code) == nullptr);
  }
  CHECK_FALSE(report.machine.noise.other_load.has_value());
}

TEST_CASE("other load is reported, and warned of when it is worth saying") {
  const Report busy = run(with_other_load(0.7));
  CHECK(*busy.machine.noise.other_load == doctest::Approx(0.7).epsilon(0.05));
  REQUIRE(find(busy, "other_load") != nullptr);
  CHECK(contains(find(busy, "other_load")->text, "0.70 CPUs busy"));
  CHECK(find(run(with_other_load(0.02)), "other_load") == nullptr);
}

TEST_CASE("a clock that changes is warned of") {
  const auto clock = [](double slow_mhz) {
    return Planted{.disturb = [slow_mhz](MachineReading& reading) {
      reading.clock_measured = true;
      reading.clock_mhz = static_cast<int>(reading.seconds) % 4 < 2 ? 4000 : slow_mhz;
    }};
  };
  BisectOptions options;
  // As large as the drop itself: never certified, so that the whole budget is measured.
  options.min_drop = *run({}).verdict.drop.value;
  options.budget_seconds = 20;
  const Report report = run(clock(3000), options);
  CHECK(*report.machine.noise.frequency_change == doctest::Approx(0.25));
  REQUIRE(find(report, "frequency") != nullptr);
  CHECK(contains(find(report, "frequency")->text, "25%"));
  CHECK(find(run(clock(3950), options), "frequency") == nullptr);
}

TEST_CASE("a quota that runs out and memory that is short are warned of") {
  const Report report = run({.usable_cpus = 1.5, .disturb = [](MachineReading& reading) {
                               reading.quota_periods = 10 * reading.seconds;
                               reading.throttled_periods = 3 * reading.seconds;
                               reading.memory_stall_seconds = 0.04 * reading.seconds;
                             }});
  CHECK(*report.machine.noise.throttled_share == doctest::Approx(0.3));
  REQUIRE(find(report, "throttled") != nullptr);
  CHECK(contains(find(report, "throttled")->text, "30% of its periods"));
  REQUIRE(find(report, "memory_pressure") != nullptr);
  CHECK(contains(find(report, "memory_pressure")->text, "4.0%"));
}

TEST_CASE("a container with a part of a CPU is not a machine of whole ones") {
  const Report report = run({.usable_cpus = 1.5});
  CHECK(report.machine.usable_cpus == 1.5);
  REQUIRE(find(report, "fractional_cpus") != nullptr);
  CHECK(contains(find(report, "fractional_cpus")->text, "1.50 CPUs, and 3 threads"));
  CHECK(contains(find(report, "fractional_cpus")->remedy, "--workers 1"));
  SimulatedChain inline_chain = starved_chain();
  inline_chain.workers = 0;
  CHECK(find(run({.usable_cpus = 1.5}, {}, inline_chain), "fractional_cpus") == nullptr);
  CHECK(find(run({.usable_cpus = 0.5}, {}, inline_chain), "fractional_cpus") != nullptr);
}

TEST_CASE("--expect: a figure within a tenth is the user's job, one beyond is not") {
  const double live = *run({}).live.value;
  const auto warned = [&](double expected) {
    BisectOptions options;
    options.expect_samples_per_second = expected;
    const Report report = run({}, options);
    const Warning* warning = find(report, "not_your_job");
    return warning == nullptr ? std::string() : warning->text;
  };
  CHECK(warned(live).empty());
  CHECK(warned(1.08 * live).empty());
  CHECK(warned(0.93 * live).empty());
  CHECK(contains(warned(2 * live), "50% below"));
  CHECK(contains(warned(0.5 * live), "100% above"));
  CHECK(contains(warned(2 * live), "10% would pass"));
}

TEST_CASE("an expected throughput that cannot be is refused") {
  for (const double expected : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()}) {
    BisectOptions options;
    options.expect_samples_per_second = expected;
    CHECK_THROWS_AS(static_cast<void>(run({}, options)), Error);
  }
}

TEST_CASE("costs near the tool's own are refused, others are not") {
  CHECK(near_floor(4.9e-6, 1e-6));
  CHECK_FALSE(near_floor(5.1e-6, 1e-6));
  CHECK_FALSE(near_floor(1e-9, 0));
}

TEST_CASE("the floor of a pipeline: its cost a sample is shared by the workers, a batch's is not") {
  CacheFacts facts;
  ChainDescription chain;
  chain.batch_size = 10;
  chain.workers = 4;
  CHECK_FALSE(floor_seconds(facts, chain).has_value());
  facts.floor_seconds_per_sample = 4e-6;
  facts.floor_seconds_per_batch = 30e-6;
  CHECK(floor_seconds(facts, chain)->of_samples == doctest::Approx(1e-6));
  CHECK(floor_seconds(facts, chain)->whole == doctest::Approx(4e-6));
  chain.workers = 0;
  CHECK(floor_seconds(facts, chain)->of_samples == doctest::Approx(4e-6));
  CHECK(floor_seconds(facts, chain)->whole == doctest::Approx(7e-6));
}

TEST_CASE("what batches cost counts against the copy, and against no stage before it") {
  Report report;
  report.chain.batch_size = 10;
  report.cache.floor_seconds_per_batch = 100e-6;  // 10 us a sample
  for (const Category category :
       {Category::read, Category::augment, Category::collate, Category::copy}) {
    StageReport& stage = report.stages.emplace_back();
    stage.category = category;
    stage.seconds_per_sample = 40e-6;
    report.boundaries.emplace_back().seconds_per_sample = 200e-6;
  }
  report.boundaries.emplace_back().seconds_per_sample = 180e-6;
  const auto refused = [&](VerdictKind kind, int stage) {
    Report asked = report;
    asked.verdict.kind = kind;
    asked.verdict.stage_index = stage;
    return refuse_near_floor(asked).has_value();
  };
  CHECK_FALSE(refused(VerdictKind::drop, 2));
  CHECK(refused(VerdictKind::drop, 4));
  CHECK(refused(VerdictKind::spread, 0));
  CHECK_FALSE(refused(VerdictKind::flat, 0));
  for (std::size_t s = 1; s < 4; ++s) report.stages[s].span = "stages 2-4 together";
  CHECK(refused(VerdictKind::drop, 2));
  CHECK_FALSE(refused(VerdictKind::drop, 1));
}

TEST_CASE("what batches cost hides behind the steps of a device that nobody waits for") {
  Report report;
  report.chain.batch_size = 10;
  report.cache.floor_seconds_per_batch = 100e-6;  // 10 us a sample
  StageReport& copy = report.stages.emplace_back();
  copy.category = Category::copy;
  copy.seconds_per_sample = 20e-6;
  report.boundaries.emplace_back().seconds_per_sample = 120e-6;
  report.boundaries.emplace_back().seconds_per_sample = 100e-6;
  report.verdict.kind = VerdictKind::drop;
  report.verdict.stage_index = 1;
  const auto refused = [&](double trainer_seconds, const auto& change) {
    Report asked = report;
    BlockResult block;
    block.samples = 1000;
    block.trainer_seconds = 1000 * trainer_seconds;
    asked.blocks.push_back({0, {.boundary = 1}, block});
    change(asked);
    return refuse_near_floor(asked).has_value();
  };
  const auto as_it_is = [](Report&) {};
  CHECK_FALSE(refused(5e-6, as_it_is));
  CHECK_FALSE(refused(93e-6, as_it_is));  // 3 us stick out, of 20
  CHECK(refused(95e-6, as_it_is));
  CHECK(refused(100e-6, as_it_is));  // the step runs in the training thread
  CHECK(refused(0, as_it_is));       // not known
  CHECK(refused(5e-6, [](Report& r) { r.chain.sync_every = 1; }));
  CHECK(refused(5e-6, [](Report& r) { r.chain.copy_pinned = false; }));
  CHECK(refused(5e-6, [](Report& r) { r.chain.copy_non_blocking = false; }));
  CHECK(refused(5e-6, [](Report& r) { r.blocks.back().round = -1; }));
  CHECK(refused(5e-6, [](Report& r) { r.blocks.back().result.is_void = true; }));
}

TEST_CASE("a drop that costs hardly more than the tool itself is not certified") {
  // Live: 265 us a sample, the crop 140 us of it.
  const Report clear = run({.floor_per_sample = 20e-6, .floor_per_batch = 16e-6});
  CHECK(clear.verdict.kind == VerdictKind::drop);
  CHECK(clear.machine.floor.ns_per_sample == doctest::Approx(20e3));
  CHECK(clear.machine.floor.us_per_batch == doctest::Approx(16));
  for (const Planted& planted : {Planted{.floor_per_sample = 70e-6},     // the named stage
                                 Planted{.floor_per_batch = 500e-6}}) {  // the live pipeline
    const Report report = run(planted);
    CHECK(report.verdict.kind == VerdictKind::inconclusive);
    CHECK(report.verdict.stage.empty());
    CHECK(report.verdict.stage_index == 0);
    CHECK_FALSE(report.verdict.certified_after_seconds.has_value());
    CHECK_FALSE(report.verdict.needed.has_value());
    CHECK(report.verdict.rounds > 0);
    CHECK(std::none_of(report.stages.begin(), report.stages.end(),
                       [](const StageReport& stage) { return stage.certified; }));
    REQUIRE(find(report, "near_floor") != nullptr);
    CHECK(report.verdict.text == find(report, "near_floor")->text);
  }
  CHECK(contains(run({.floor_per_sample = 70e-6}).verdict.text, "crop costs"));
  CHECK(contains(run({.floor_per_batch = 500e-6}).verdict.text, "the live pipeline costs"));
}

TEST_CASE("Cold reading that was not cold is warned of, and no other") {
  const auto warned = [](std::optional<double> share, const std::string& io) {
    BisectOptions options;
    options.io = io;
    const Report report = run({.resident_share = share}, options);
    return std::ranges::any_of(report.warnings,
                               [](const Warning& w) { return w.code == "not_cold"; });
  };
  CHECK(warned(1.0, "cold"));
  CHECK(warned(0.06, "cold"));
  CHECK_FALSE(warned(0.04, "cold"));
  CHECK_FALSE(warned(std::nullopt, "cold"));
  CHECK_FALSE(warned(1.0, "as-is"));
}

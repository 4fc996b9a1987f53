#include "cachebisect/bisect/advice/warnings.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "support/rounds.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/analysis/near_floor.hpp"
#include "cachebisect/bisect/analysis/reading.hpp"
#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;
using test::has;
using test::starved_chain;

namespace {

/// What a test plants in addition to the chain.
struct Planted {
  std::optional<double> usable_cpus;
  std::optional<WorkerSearch> worker_search;
  std::optional<CacheUse> cache;  ///< of the second stage
  std::optional<double> floor_per_sample;
  std::optional<double> floor_per_batch;
  std::optional<double> resident_share;  ///< of what each block reads
  std::optional<double> data_set_bytes;
  std::optional<double> serve_seconds;  ///< per sample, at every boundary
  std::function<double(const Arm&)> clock_mhz;
  std::function<DeviceReading(const Arm&)> device;
  std::function<void(MachineReading&)> disturb;  ///< given the time of each reading
  std::vector<std::pair<std::string, std::function<void(MachineReading&)>>> other_nodes{};
};

/// A simulated chain on a machine whose readings a test determines.
class PlantedMachine final : public Replayer {
 public:
  PlantedMachine(SimulatedChain chain, Planted planted)
      : inner_(std::move(chain), {.noise = {.white_cv = 0.01}}), planted_(std::move(planted)) {}

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription chain = inner_.describe();
    if (planted_.usable_cpus) chain.usable_cpus = planted_.usable_cpus;
    chain.worker_search = planted_.worker_search;
    chain.stages[1].cache = planted_.cache;
    return chain;
  }
  [[nodiscard]] bool supports(const Arm& arm) const override { return inner_.supports(arm); }
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    CacheFacts facts = inner_.prepare(budget, stop);
    facts.floor_seconds_per_sample = planted_.floor_per_sample;
    facts.floor_seconds_per_batch = planted_.floor_per_batch;
    facts.data_set_bytes = planted_.data_set_bytes;
    if (planted_.serve_seconds) {
      for (double& seconds : facts.serve_seconds_per_sample) seconds = *planted_.serve_seconds;
    }
    return facts;
  }
  void begin_round() override { inner_.begin_round(); }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockResult result = inner_.run(request, stop);
    result.resident_share = planted_.resident_share;
    if (planted_.device) result.device = planted_.device(request.arm);
    if (planted_.clock_mhz) result.clock_mhz = planted_.clock_mhz(request.arm);
    return result;
  }
  [[nodiscard]] double clock() const override { return inner_.clock(); }
  [[nodiscard]] MachineReading read_machine() const override {
    MachineReading reading = inner_.read_machine();
    if (planted_.disturb) planted_.disturb(reading);
    return reading;
  }
  [[nodiscard]] std::vector<NodeReading> read_other_nodes() override {
    std::vector<NodeReading> readings;
    for (const auto& [node, disturb] : planted_.other_nodes) {
      readings.push_back({node, inner_.read_machine()});
      disturb(readings.back().counters);
    }
    return readings;
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

/// Costs of a chain whose batches cost the tool 10 us per sample.
struct Costs {
  Measurements measured;
  Waterfall waterfall;

  Costs() {
    measured.chain.batch_size = 10;
    measured.cache.floor_seconds_per_batch = 100e-6;
  }
  void add_stage(Category category, double seconds_per_sample) {
    measured.chain.stages.emplace_back().category = category;
    waterfall.stages.emplace_back().seconds_per_sample = seconds_per_sample;
  }
  /// Whether a verdict of this kind is refused; a drop is at `part`.
  [[nodiscard]] bool refused(VerdictKind kind, const Part& part = {}) const {
    VerdictState state;
    state.decision.kind = kind;
    state.decision.part = 0;
    state.findings.parts.emplace_back().part = part;
    return near_floor_warning(measured, waterfall, state).has_value();
  }
};

}  // namespace

TEST_CASE("a count of workers that short trials leave open is a warning with the trials") {
  const WorkerSearch sure{{{1, 500, {490, 510}}, {2, 505, {495, 520}}}, true, ""};
  CHECK(find(run({.worker_search = sure}), "auto_workers") == nullptr);
  WorkerSearch open = sure;
  open.certain = false;
  const Report report = run({.worker_search = open});
  const Warning* warning = find(report, "auto_workers");
  REQUIRE(warning != nullptr);
  CHECK(has(warning->text, "1 worker: 500 samples/s, 2 workers: 505 samples/s"));
  CHECK(has(warning->remedy, "--what-if workers="));
  WorkerSearch limited = sure;
  limited.limited_by = "memory";
  const Report small = run({.worker_search = limited});
  REQUIRE(find(small, "auto_workers") != nullptr);
  CHECK(has(find(small, "auto_workers")->text, "memory"));
}

TEST_CASE("a cache that is full is a warning with what all samples take") {
  CHECK(find(run({.cache = CacheUse{.samples = 10, .bytes = 1000}}), "cache_full") == nullptr);
  const Report report =
      run({.cache = CacheUse{
               .samples = 40'000, .bytes = 1'000'000, .limit_bytes = 1'000'000, .full = true}});
  const Warning* warning = find(report, "cache_full");
  REQUIRE(warning != nullptr);
  CHECK(has(warning->text, "its limit of 1.0 MB is reached"));
  CHECK(has(warning->remedy, "all of them take about 2.5 MB: "));
  CHECK(has(warning->remedy, "limit_gb"));
}

TEST_CASE("what all samples take is not concluded from a few that a cache has") {
  const Report report = run(
      {.cache = CacheUse{.samples = 1, .bytes = 100'000, .limit_bytes = 100'000, .full = true}});
  const Warning* warning = find(report, "cache_full");
  REQUIRE(warning != nullptr);
  CHECK(warning->remedy == "raise limit_gb as far as memory allows");
}

TEST_CASE("a quiet machine with whole CPUs causes no warning") {
  const Report report = run({.usable_cpus = 4});
  for (const char* const code : {"other_load", "frequency", "throttled", "steal", "memory_pressure",
                                 "fractional_cpus", "near_floor"}) {
    CAPTURE(code);
    CHECK(find(report, code) == nullptr);
  }
  CHECK_FALSE(report.machine.noise.other_load.has_value());
}

TEST_CASE("other load is reported, and causes a warning if it is large") {
  const Report busy = run(with_other_load(0.7));
  CHECK(*busy.machine.noise.other_load == doctest::Approx(0.7).epsilon(0.05));
  REQUIRE(find(busy, "other_load") != nullptr);
  CHECK(has(find(busy, "other_load")->text, "0.70 CPUs busy"));
  CHECK(find(run(with_other_load(0.02)), "other_load") == nullptr);
}

TEST_CASE("a changing clock frequency causes a warning") {
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
  CHECK(has(find(report, "frequency")->text, "25%"));
  CHECK(find(run(clock(3950), options), "frequency") == nullptr);
}

TEST_CASE("throttling by a CPU quota and memory pressure cause warnings") {
  const Report report = run({.usable_cpus = 1.5, .disturb = [](MachineReading& reading) {
                               reading.quota_periods = 10 * reading.seconds;
                               reading.throttled_periods = 3 * reading.seconds;
                               reading.memory_stall_seconds = 0.04 * reading.seconds;
                             }});
  CHECK(*report.machine.noise.throttled_share == doctest::Approx(0.3));
  REQUIRE(find(report, "throttled") != nullptr);
  CHECK(has(find(report, "throttled")->text, "30% of its periods"));
  REQUIRE(find(report, "memory_pressure") != nullptr);
  CHECK(has(find(report, "memory_pressure")->text, "4.0%"));
}

TEST_CASE("what disturbs other machines of the job causes one warning of each kind") {
  const auto loaded = [](double other) { return with_other_load(other).disturb; };
  const auto throttled = [](MachineReading& reading) {
    reading.quota_periods = 10 * reading.seconds;
    reading.throttled_periods = 3 * reading.seconds;
  };
  const Report report = run({.other_nodes = {{"node-1", loaded(0.5)},
                                             {"node-2", loaded(0.9)},
                                             {"node-3", loaded(0.01)},
                                             {"node-4", throttled}}});
  REQUIRE(report.machine.other_nodes.size() == 4);
  CHECK(report.machine.other_nodes[1].name == "node-2");
  CHECK(*report.machine.other_nodes[1].usable_cpus == 2);
  CHECK(*report.machine.other_nodes[1].noise.other_load == doctest::Approx(0.9).epsilon(0.05));
  CHECK(*report.machine.other_nodes[3].noise.throttled_share == doctest::Approx(0.3));
  const Warning* load = find(report, "node_other_load");
  REQUIRE(load != nullptr);
  CHECK(has(load->text, "on node node-2 (and one other), other processes kept 0.90 CPUs busy"));
  const Warning* quota = find(report, "node_throttled");
  REQUIRE(quota != nullptr);
  CHECK(has(quota->text, "on node node-4, the container's CPU quota ran out in 30%"));
  for (const char* const code :
       {"node_steal", "node_frequency", "node_memory_pressure", "other_load", "throttled"}) {
    CAPTURE(code);
    CHECK(find(report, code) == nullptr);
  }
}

TEST_CASE("a fractional number of CPUs causes a warning if the threads need more") {
  const Report report = run({.usable_cpus = 1.5});
  CHECK(report.machine.usable_cpus == 1.5);
  REQUIRE(find(report, "fractional_cpus") != nullptr);
  CHECK(has(find(report, "fractional_cpus")->text, "1.50 CPUs, and 3 threads"));
  CHECK(has(find(report, "fractional_cpus")->remedy, "--workers 1"));
  SimulatedChain inline_chain = starved_chain();
  inline_chain.workers = 0;
  CHECK(find(run({.usable_cpus = 1.5}, {}, inline_chain), "fractional_cpus") == nullptr);
  CHECK(find(run({.usable_cpus = 0.5}, {}, inline_chain), "fractional_cpus") != nullptr);
}

TEST_CASE("an expected throughput more than 10% off the live one causes a warning") {
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
  CHECK(has(warned(2 * live), "50% below"));
  CHECK(has(warned(0.5 * live), "100% above"));
  CHECK(has(warned(2 * live), "10% would pass"));
}

TEST_CASE("the cost of serving causes a warning only where loading limits") {
  const Report report = run({.serve_seconds = 20e-6});
  const auto warned = [&](const std::string& stage) {
    return std::any_of(report.warnings.begin(), report.warnings.end(), [&](const Warning& warning) {
      return warning.code == "serving_cost" && has(warning.text, "after " + stage);
    });
  };
  CHECK(warned("decode"));  // crop limits
  CHECK_FALSE(warned("crop"));
  CHECK_FALSE(warned("flip"));
}

TEST_CASE("different clocks of live and of the step alone are a warning with both") {
  const int last = static_cast<int>(starved_chain().boundaries());
  const auto with_live_clock = [&](double mhz) {
    return run({.clock_mhz = [=](const Arm& arm) { return arm.boundary == last ? 3600 : mhz; }});
  };
  const Report report = with_live_clock(3100);
  const Warning* warning = find(report, "clock_of_arms");
  REQUIRE(warning != nullptr);
  CHECK(has(warning->text, "3,100 MHz in the live pipeline and 3,600 MHz"));
  CHECK(find(with_live_clock(3550), "clock_of_arms") == nullptr);
  CHECK(find(run({}), "clock_of_arms") == nullptr);
}

TEST_CASE("SM clocks of live and of the step alone that differ by more than 2% are a warning") {
  const int last = static_cast<int>(starved_chain().boundaries());
  const auto with_ceiling_clock = [&](double mhz) {
    return run({.device = [=](const Arm& arm) {
      DeviceReading reading;
      reading.sm_clock_mhz = arm.boundary == last ? mhz : 1980;
      return reading;
    }});
  };
  const Report report = with_ceiling_clock(1755);
  const Warning* warning = find(report, "device_clock_of_arms");
  REQUIRE(warning != nullptr);
  CHECK(has(warning->text, "1,980 MHz in the live pipeline and 1,755 MHz"));
  CHECK(find(report, "clock_of_arms") == nullptr);
  CHECK(find(with_ceiling_clock(1950), "device_clock_of_arms") == nullptr);
}

TEST_CASE("a device that throttles now and then has those blocks repeated, without a warning") {
  int blocks = 0;
  const Report report = run({.device = [&blocks](const Arm&) {
    DeviceReading reading;
    reading.throttling = Throttling{.thermal = ++blocks % 40 == 39};
    return reading;
  }});
  CHECK(find(report, "device_throttled") == nullptr);
  CHECK(find(report, "suspended") == nullptr);
  const auto repeated =
      std::count_if(report.blocks.begin(), report.blocks.end(),
                    [](const BlockRecord& record) { return record.repeated_for_throttling; });
  CHECK(repeated >= 1);
  CHECK(repeated <= 8);
}

TEST_CASE("a device that throttles all the time is measured as it is, with a warning") {
  const auto throttled_by = [](Throttling throttling) {
    return run({.device = [=](const Arm&) {
      DeviceReading reading;
      reading.throttling = throttling;
      return reading;
    }});
  };
  const Report hot = throttled_by({.thermal = true});
  const Warning* warning = find(hot, "device_throttled");
  REQUIRE(warning != nullptr);
  CHECK(has(warning->text, "because of heat in "));
  CHECK(std::count_if(hot.blocks.begin(), hot.blocks.end(), [](const BlockRecord& record) {
          return record.repeated_for_throttling;
        }) == 8);
  CHECK(find(hot, "suspended") == nullptr);
  const Report capped = throttled_by({.power = true});
  REQUIRE(find(capped, "device_throttled") != nullptr);
  CHECK(has(find(capped, "device_throttled")->remedy, "--power-limit"));
}

TEST_CASE("an impossible expected throughput is refused") {
  for (const double expected : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()}) {
    BisectOptions options;
    options.expect_samples_per_second = expected;
    CHECK_THROWS_AS(static_cast<void>(run({}, options)), Error);
  }
}

TEST_CASE("a cost below five times the tool's own is near the floor") {
  CHECK(near_floor(4.9e-6, 1e-6));
  CHECK_FALSE(near_floor(5.1e-6, 1e-6));
  CHECK_FALSE(near_floor(1e-9, 0));
}

TEST_CASE("the workers share the floor's cost per sample, but not its cost per batch") {
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

TEST_CASE("the tool's cost per batch counts against the copy, but against no stage before it") {
  Costs costs;
  for (const Category category :
       {Category::read, Category::augment, Category::collate, Category::copy}) {
    costs.add_stage(category, 40e-6);
    costs.waterfall.boundaries.emplace_back().seconds_per_sample = 200e-6;
  }
  costs.waterfall.boundaries.emplace_back().seconds_per_sample = 180e-6;
  CHECK_FALSE(costs.refused(VerdictKind::drop, {1, 2}));
  CHECK(costs.refused(VerdictKind::drop, {3, 4}));
  CHECK(costs.refused(VerdictKind::spread));
  CHECK_FALSE(costs.refused(VerdictKind::flat));
  CHECK_FALSE(costs.refused(VerdictKind::drop, {1, 4}));
  costs.waterfall.spans = {{.first = 2, .last = 4, .seconds_per_sample = 40e-6}};
  CHECK(costs.refused(VerdictKind::drop, {1, 4}));
  CHECK_FALSE(costs.refused(VerdictKind::drop, {0, 1}));
}

TEST_CASE("the tool's cost per batch is hidden while the device runs steps asynchronously") {
  Costs costs;
  costs.add_stage(Category::copy, 20e-6);
  costs.waterfall.boundaries.emplace_back().seconds_per_sample = 120e-6;
  costs.waterfall.boundaries.emplace_back().seconds_per_sample = 100e-6;
  const auto refused = [&](double trainer_seconds, const auto& change) {
    Costs asked = costs;
    BlockResult block = test::block_of(1, 1000);
    block.trainer_seconds = 1000 * trainer_seconds;
    asked.measured.blocks.push_back(test::replay_record(0, 1, block));
    change(asked.measured);
    return asked.refused(VerdictKind::drop, {0, 1});
  };
  const auto unchanged = [](Measurements&) {};
  CHECK_FALSE(refused(5e-6, unchanged));
  CHECK_FALSE(refused(93e-6, unchanged));  // 3 us of 20 are not hidden
  CHECK(refused(95e-6, unchanged));
  CHECK(refused(100e-6, unchanged));  // the step runs in the training thread
  CHECK(refused(0, unchanged));       // unknown
  CHECK(refused(5e-6, [](Measurements& m) { m.chain.sync_every = 1; }));
  CHECK(refused(5e-6, [](Measurements& m) { m.chain.copy_pinned = false; }));
  CHECK(refused(5e-6, [](Measurements& m) { m.chain.copy_non_blocking = false; }));
  CHECK(refused(5e-6, [](Measurements& m) { m.blocks.back().round = -1; }));
  CHECK(refused(5e-6, [](Measurements& m) { m.blocks.back().result.is_void = true; }));
}

TEST_CASE("a drop that costs hardly more than the tool itself is not certified") {
  // Live: 280 us per sample, of which the crop costs 130 us.
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
  CHECK(has(run({.floor_per_sample = 70e-6}).verdict.text, "crop costs"));
  CHECK(has(run({.floor_per_batch = 500e-6}).verdict.text, "the live pipeline costs"));
}

TEST_CASE("cold reading that finds its data in memory causes a warning, other reading does not") {
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

TEST_CASE("reading warmer than training can be causes a warning with the figures") {
  const double memory = probe_machine().memory_bytes;
  const auto text = [](const Planted& planted, const std::string& io) -> std::string {
    BisectOptions options;
    options.io = io;
    const Report report = run(planted, options);
    const Warning* warning = find(report, "warmer_than_training");
    if (warning == nullptr) return "";
    CHECK(warning->remedy == "--io cold");
    return warning->text;
  };
  const Planted warm{.resident_share = 0.6, .data_set_bytes = 4 * memory};
  CHECK(has(text(warm, "as-is"), "60% of the pages"));
  CHECK(has(text(warm, "as-is"), "at most 25%"));
  CHECK(has(text({.resident_share = 1.0, .data_set_bytes = 4 * memory}, "warm"), "100%"));
  CHECK(text(warm, "cold").empty());  // `not_cold` says it
  CHECK(text({.resident_share = 0.29, .data_set_bytes = 4 * memory}, "as-is").empty());
  CHECK(text({.resident_share = 1.0, .data_set_bytes = 0.99 * memory}, "as-is").empty());
  CHECK(text({.resident_share = 1.0}, "as-is").empty());
  CHECK(text({.data_set_bytes = 4 * memory}, "as-is").empty());
}

TEST_CASE("the resident share is the mean of the live blocks that are evidence") {
  const auto block = [](int round, int boundary, std::optional<double> share) {
    BlockResult result = test::block_of(1, 1000);
    result.resident_share = share;
    return test::replay_record(round, boundary, result);
  };
  std::vector<BlockRecord> records{block(-1, 0, 1.0), block(0, 3, 1.0)};
  CHECK_FALSE(resident_share(records).has_value());
  records.push_back(block(0, 0, 0.1));
  records.push_back(block(1, 0, std::nullopt));
  records.push_back(block(2, 0, 0.3));
  records.push_back(block(3, 0, 1.0));
  records.back().result.is_void = true;
  CHECK(resident_share(records) == doctest::Approx(0.2));
}

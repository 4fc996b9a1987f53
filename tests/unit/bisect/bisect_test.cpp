#include "cachebisect/bisect/bisect.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

using namespace cachebisect;
using test::has;
using test::starved_chain;

namespace {

double waterfall_sum(const Report& report) {
  double sum = 0;
  for (const StageReport& stage : report.stages) sum += stage.seconds_per_sample.value_or(0);
  for (const SpanReport& span : report.spans) sum += span.seconds_per_sample.value_or(0);
  return sum;
}

}  // namespace

TEST_CASE("a planted drop is found, certified and explained") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  std::vector<std::string> phases;
  std::optional<double> expected;
  BisectOptions options;
  options.progress = [&](const Progress& progress) {
    if (phases.empty() || phases.back() != progress.phase) phases.push_back(progress.phase);
    expected = progress.expected_seconds;
  };
  const Report report = bisect(replayer, options);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "crop");
  CHECK(report.verdict.stage_index == 3);
  CHECK(report.verdict.tied_with.empty());
  CHECK(report.verdict.rounds >= 6);
  CHECK(report.verdict.rounds <= 16);
  CHECK(report.verdict.certified_after_seconds.has_value());
  CHECK_FALSE(report.verdict.needed.has_value());
  const SimulatedRing ring(starved_chain());
  const double truth = 1 - ring.seconds_per_sample(3) / ring.seconds_per_sample(2);
  REQUIRE(report.verdict.drop.interval.has_value());
  CHECK(report.verdict.drop.interval->low <= truth);
  CHECK(report.verdict.drop.interval->high >= truth);
  CHECK(report.verdict.text.starts_with("crop costs "));
  CHECK(report.live.value.has_value());
  CHECK(report.ceiling.value == doctest::Approx(8000).epsilon(0.02));
  CHECK(phases == std::vector<std::string>{"caches", "pilot", "measure", "sustain", "explain"});
  CHECK(expected.has_value());
  CHECK(report.started.size() == 20);
  CHECK(report.blocks.front().round == -1);
  CHECK(report.stages[2].cpu_seconds_per_sample == doctest::Approx(0.5e-3));
  CHECK(report.stages[0].wait_seconds_per_sample == doctest::Approx(20e-6));
  CHECK(waterfall_sum(report) == doctest::Approx(*report.boundaries.front().seconds_per_sample -
                                                 *report.boundaries.back().seconds_per_sample));
}

TEST_CASE("the share of the price that is lost is the share of throughput that is lost") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  BisectOptions options;
  options.explain = false;
  CHECK_FALSE(bisect(replayer, options).cost.has_value());
  options.cost_per_hour = 98;
  const Report report = bisect(replayer, options);
  REQUIRE(report.cost.has_value());
  CHECK(report.cost->per_hour == 98);
  CHECK(report.cost->lost_per_hour.value == doctest::Approx(98 * *report.loss.total.value));
  CHECK(report.cost->lost_per_hour.interval->high ==
        doctest::Approx(98 * report.loss.total.interval->high));
}

TEST_CASE("of a pipeline file it is said what storage must give for the ceiling") {
  SimulatedChain chain = starved_chain();
  chain.source_bytes = 10'000;
  Measurements measured = test::measure_chain(chain, {.budget_seconds = 20});
  const Report report = test::report_of(measured);
  REQUIRE(report.reading.has_value());
  CHECK(report.reading->bytes_per_sample == doctest::Approx(10'000));
  CHECK(*report.reading->ceiling_bytes_per_second == doctest::Approx(1e4 * *report.ceiling.value));
  CHECK(*report.reading->live_bytes_per_second == doctest::Approx(1e4 * *report.live.value));
  measured.chain.settings.of_file = false;
  CHECK_FALSE(test::report_of(measured).reading.has_value());
}

TEST_CASE("each super-round gives a complete partial report") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  BisectOptions options;
  options.explain = false;
  int partial = 0;
  options.partial = [&](const Report& report) {
    ++partial;
    CHECK(report.interrupted);
    CHECK(report.verdict.rounds == kUsualRepeats * partial);
    CHECK(report.stages.size() == 6);
    CHECK_FALSE(report.verdict.text.empty());
  };
  const Report report = bisect(replayer, options);
  CHECK_FALSE(report.interrupted);
  CHECK(report.stages.size() == 6);
  CHECK(kUsualRepeats * partial == report.verdict.rounds);
}

TEST_CASE("the same seed gives the same report") {
  const auto run = [] {
    SimulatedReplayer replayer(starved_chain(), {.seed = 4, .noise = {.white_cv = 0.05}});
    return bisect(replayer);
  };
  const Report a = run();
  const Report b = run();
  CHECK(a.verdict.text == b.verdict.text);
  REQUIRE(a.blocks.size() == b.blocks.size());
  CHECK(a.blocks.back().result.seconds == b.blocks.back().result.seconds);
}

TEST_CASE("a chain hidden behind the step is quickly found to be flat") {
  SimulatedReplayer replayer(starved_chain(20e-6), {.noise = {.white_cv = 0.01}});
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::flat);
  CHECK(report.timing.measure_seconds < 4);
  CHECK(report.verdict.text.starts_with("The training step is the limit"));
  CHECK(report.verdict.stage.empty());
  for (const Remedy& remedy : report.remedies) CHECK(remedy.stage.empty());
  // Only live and ceiling were measured; the stages between are one span, and the sum still holds.
  CHECK_FALSE(report.boundaries[2].visited);
  CHECK(report.stages[1].span == "stages 1-6 together");
  CHECK(waterfall_sum(report) == doctest::Approx(*report.boundaries.front().seconds_per_sample -
                                                 *report.boundaries.back().seconds_per_sample));
}

TEST_CASE("many small drops are a spread") {
  SimulatedChain chain;
  chain.workers = 1;
  chain.step_seconds = 8e-3;
  for (int i = 0; i < 10; ++i) {
    // The first stages fill the time of the step, then each adds 3.5% of it.
    chain.stages.push_back({.name = "s" + std::to_string(i), .seconds = 3.5e-5});
  }
  chain.stages.push_back({.name = "last", .seconds = 0.99e-3});
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.005}});
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::spread);
  CHECK(report.verdict.shares.size() >= 3);
  CHECK(report.verdict.shares.size() <= 6);
}

TEST_CASE("two stages of equal cost are a tie") {
  SimulatedChain chain = starved_chain();
  chain.workers = 1;
  chain.stages = {{.name = "a", .seconds = 0.4e-3},
                  {.name = "b", .seconds = 0.4e-3},
                  {.name = "c", .seconds = 0.1e-3}};
  chain.step_seconds = 8 * chain.stages[2].seconds;
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.tied_with.size() == 1);
  CHECK(report.timing.measure_seconds < 20);
}

TEST_CASE("a slow cache is an anomaly") {
  SimulatedChain chain = starved_chain();
  chain.workers = 1;
  chain.stages = {{.name = "read", .seconds = 0.0}, {.name = "decode", .seconds = 0.0}};
  // The cache facts below do not mention that serving is slow.
  chain.serve_seconds = 0.4e-3;
  class Silent final : public Replayer {
   public:
    explicit Silent(Replayer& inner) : inner_(inner) {}
    ~Silent() override = default;
    Silent(const Silent&) = delete;
    Silent& operator=(const Silent&) = delete;
    [[nodiscard]] ChainDescription describe() const override { return inner_.describe(); }
    [[nodiscard]] bool supports(const Arm& arm) const override { return inner_.supports(arm); }
    CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
      CacheFacts facts = inner_.prepare(budget, stop);
      facts.serve_seconds_per_sample.clear();
      return facts;
    }
    void begin_round() override { inner_.begin_round(); }
    BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
      return inner_.run(request, stop);
    }
    [[nodiscard]] double clock() const override { return inner_.clock(); }

   private:
    Replayer& inner_;
  };
  SimulatedReplayer inner(chain, {.noise = {.white_cv = 0.01}});
  Silent replayer(inner);
  BisectOptions options;
  options.boundaries = {1, 2, 3};
  const Report report = bisect(replayer, options);
  CHECK(report.verdict.kind == VerdictKind::anomaly);
  CHECK(report.verdict.stage == "read");
  CHECK(report.remedies.empty());
}

TEST_CASE("a budget that is too small is inconclusive, and the verdict says what is needed") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.05}});
  BisectOptions options;
  options.budget_seconds = 0.8;
  const Report report = bisect(replayer, options);
  CHECK(report.verdict.kind == VerdictKind::inconclusive);
  REQUIRE(report.verdict.needed.has_value());
  CHECK(report.verdict.needed->seconds > 0.8);
  CHECK(report.verdict.needed->rounds > report.verdict.rounds);
  CHECK(report.timing.measure_seconds <= 1.2);
}

TEST_CASE("where no loss shows and hours would not tell, the sentence says so") {
  bool saw_no_loss = false;
  bool saw_hours = false;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SimulatedChain chain = starved_chain();
    for (SimulatedStage& stage : chain.stages) stage.seconds = 1e-6;
    SimulatedReplayer replayer(chain, {.seed = seed, .noise = {.white_cv = 0.8}});
    BisectOptions options;
    options.budget_seconds = 1;
    const Report report = bisect(replayer, options);
    if (report.verdict.kind != VerdictKind::inconclusive || report.verdict.rounds == 0) continue;
    const std::string& text = report.verdict.text;
    CAPTURE(text);
    for (char digit = '0'; digit <= '9'; ++digit) {
      CHECK_FALSE(test::has(text, std::string(" -") + digit));
    }
    if (test::has(text, "live seems no slower than the training step alone")) {
      saw_no_loss = true;
      CHECK_FALSE(test::has(text, "seems lost"));
    }
    if (!report.verdict.needed || report.verdict.needed->seconds < 4 * 3600) continue;
    saw_hours = true;
    CHECK(test::has(text, "takes less."));
    CHECK_FALSE(test::has(text, "--budget"));
  }
  CHECK(saw_no_loss);
  CHECK(saw_hours);
}

TEST_CASE("void blocks are repeated, recorded, and cost no budget") {
  SimulatedOptions simulated{.noise = {.white_cv = 0.01}};
  simulated.faults.void_every = 7;
  SimulatedReplayer replayer(starved_chain(), simulated);
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::drop);
  int voids = 0;
  for (const BlockRecord& block : report.blocks) voids += block.result.is_void ? 1 : 0;
  CHECK(voids >= static_cast<int>(report.blocks.size()) / 7 - 1);
  CHECK(report.warnings.size() >= 1);
  simulated.faults.void_every = 1;
  SimulatedReplayer always(starved_chain(), simulated);
  CHECK_THROWS_AS((void)bisect(always), Error);
}

TEST_CASE("a failing stage ends the run with its own error") {
  for (const int block : {0, 5, 20}) {
    SimulatedOptions simulated;
    simulated.faults = {.fail_at_block = block, .fail_stage = 3};
    SimulatedReplayer replayer(starved_chain(), simulated);
    try {
      (void)bisect(replayer);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::data);
      CHECK(std::string(error.what()).find("crop") != std::string::npos);
    }
  }
}

TEST_CASE("a certified verdict is handed out at once, and outlives an error of what follows") {
  const SimulatedOptions quiet{.noise = {.white_cv = 0.01}};
  std::optional<Report> certified;
  BisectOptions options;
  options.partial = [&](const Report& report) {
    if (!certified && report.verdict.kind == VerdictKind::drop) certified = report;
  };
  SimulatedReplayer replayer(starved_chain(), quiet);
  const Report whole = bisect(replayer, options);
  REQUIRE(certified);
  CHECK(certified->verdict.stage == whole.verdict.stage);
  const auto first_after = static_cast<int>(certified->blocks.size());
  for (const int later : {0, 1, 20}) {
    SimulatedOptions failing = quiet;
    failing.faults = {.fail_at_block = first_after + later, .fail_stage = 3};
    SimulatedReplayer damaged(starved_chain(), failing);
    const Report report = bisect(damaged);
    CHECK(report.verdict.kind == VerdictKind::drop);
    CHECK(report.verdict.stage == whole.verdict.stage);
    CHECK_FALSE(report.interrupted);
    const auto told = std::ranges::find_if(report.warnings, [](const Warning& warning) {
      return warning.code == "run_failed" || warning.code == "not_explained";
    });
    REQUIRE(told != report.warnings.end());
    CHECK(has(told->text, "crop"));
  }
}

TEST_CASE("a stopped run reports what is known") {
  std::stop_source source;
  int blocks = 0;
  int stop_after = 0;
  BisectOptions options;
  options.stop = source.get_token();
  options.progress = [&](const Progress&) {
    if (++blocks == stop_after) source.request_stop();
  };
  SUBCASE("before the first block") { source.request_stop(); }
  SUBCASE("in the pilot") { stop_after = 3; }
  SUBCASE("between rounds") { stop_after = 18; }
  SUBCASE("in a round") { stop_after = 24; }
  SimulatedOptions simulated{.noise = {.white_cv = 0.01}};
  SimulatedReplayer replayer(starved_chain(), simulated);
  const Report report = bisect(replayer, options);
  CHECK(report.interrupted);
  CHECK(report.verdict.kind == VerdictKind::inconclusive);
  CHECK_FALSE(report.verdict.text.empty());
  CHECK(report.boundaries.size() == 7);
  CHECK((report.verdict.rounds > 0) == (stop_after >= 18));
}

TEST_CASE("a clock jump can end the budget, but not the program") {
  SimulatedOptions simulated;
  simulated.faults.clock_jump_at_block = 20;
  SimulatedReplayer forward(starved_chain(), simulated);
  CHECK(bisect(forward).verdict.kind == VerdictKind::inconclusive);
  simulated.faults.clock_jump_seconds = -3600;
  SimulatedReplayer backward(starved_chain(), simulated);
  CHECK(bisect(backward).verdict.kind == VerdictKind::drop);
}

TEST_CASE("bad options are refused") {
  SimulatedReplayer replayer(starved_chain());
  BisectOptions options;
  SUBCASE("budget") { options.budget_seconds = 0; }
  SUBCASE("confidence") { options.confidence = 1; }
  SUBCASE("drop") { options.min_drop = 0; }
  SUBCASE("boundary") { options.boundaries = {9}; }
  SUBCASE("not a number") { options.budget_seconds = std::nan(""); }
  CHECK_THROWS_AS((void)bisect(replayer, options), Error);
}

TEST_CASE("boundaries chosen by the user make spans") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  BisectOptions options;
  options.boundaries = {3};
  const Report report = bisect(replayer, options);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "stages 1-3 together");
  CHECK(report.verdict.span == report.verdict.stage);
  CHECK(report.stages[1].span == "stages 1-3 together");
  for (const std::size_t s : {0, 1, 2}) {
    CHECK_FALSE(report.stages[s].drop.value.has_value());
    CHECK_FALSE(report.stages[s].seconds_per_sample.has_value());
    CHECK_FALSE(report.stages[s].certified);
  }
  REQUIRE(report.spans.size() == 2);
  const SpanReport& span = report.spans[0];
  CHECK(span.first == 1);
  CHECK(span.last == 3);
  CHECK(span.certified);
  CHECK(span.drop.value == report.verdict.drop.value);
}

TEST_CASE("a tie that the budget cannot settle ends the search") {
  SimulatedChain chain;
  chain.workers = 1;
  chain.step_seconds = 4e-3;
  // Live takes 5.6 ms more with the one, and the step is 5.6 ms faster without the other.
  chain.stages = {{.name = "read", .seconds = 1e-5},
                  {.name = "one", .seconds = 7e-4},
                  {.name = "other", .seconds = 1.2e-3}};
  double sum_told = 0;
  double sum_deadlines = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    SimulatedReplayer replayer(chain, {.seed = seed, .noise = {.white_cv = 0.02}});
    const Report report = bisect(replayer);
    CHECK(report.verdict.kind == VerdictKind::drop);
    CHECK(report.verdict.tied_with.size() == 1);
    REQUIRE(report.verdict.certified_after_seconds.has_value());
    const double told = report.timing.measure_seconds - report.timing.explain_seconds;
    sum_told += told;
    sum_deadlines += 3 * *report.verdict.certified_after_seconds + 2;
  }
  CHECK(sum_told < 0.6 * sum_deadlines);
}

TEST_CASE("on the cpu no untimed steps are tried where workers are far ahead of the training") {
  const auto pilots_of_live = [](double stage_seconds) {
    SimulatedChain chain;
    chain.device_is_host = true;
    chain.workers = 4;
    chain.cores = 8;
    chain.loader = LoaderKind::batch;
    chain.trainer_seconds = 0.05;
    chain.stages = {{.name = "read", .seconds = stage_seconds}};
    SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.03}});
    const Report report = bisect(replayer);
    CHECK(report.verdict.kind == (stage_seconds > 0.01 ? VerdictKind::drop : VerdictKind::flat));
    return std::ranges::count_if(report.blocks, [](const BlockRecord& block) {
      return block.round < 0 && block.arm.boundary == 0 && block.result.steps < 20;
    });
  };
  CHECK(pilots_of_live(1e-3) == 2);
  CHECK(pilots_of_live(40e-3) > 2);
}

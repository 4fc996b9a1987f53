// Chains of the corpus: drawn by seed, within their limits, and with a truth that follows the law.
#include <algorithm>
#include <fstream>
#include <set>

#include "bench/habits/habits.hpp"
#include "bench/habits/plan.hpp"
#include "bench/habits/real_chains.hpp"
#include "bench/habits/run.hpp"
#include "support/files.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

using namespace cachebisect;
using namespace cachebisect::habits;

namespace {

constexpr std::uint64_t kSeeds = 8;
const DrawContext kContext{.folder = "/tmp", .tuning = {.step_ms = 8, .wait_us = 100}};

HabitChain drawn(const std::string& habit, std::uint64_t seed) {
  return habit_named(habit, all_habits()).draw(habit, seed, kContext);
}

template <class Check>
void for_all_chains(const std::vector<Habit>& habits, const Check& check) {
  for (const Habit& habit : habits) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(habit.name);
      CAPTURE(seed);
      check(habit, habit.draw(habit.name, seed, kContext));
    }
  }
}

}  // namespace

TEST_CASE("equal seeds give equal chains, other seeds give others") {
  for (const Habit& habit : all_habits()) {
    std::set<std::string> texts;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto text = [&] { return pipeline_json(habit.draw(habit.name, seed, kContext)); };
      CHECK(text() == text());
      texts.insert(text());
    }
    CHECK(texts.size() == kSeeds);
  }
}

TEST_CASE("every chain is a pipeline that can be opened, with the habit and without it") {
  const Registry registry = habit_registry();
  const test::TemporaryFolder folder;
  for (const Habit& habit : all_habits()) {
    const HabitChain chain = habit.draw(habit.name, 1, {.folder = folder.path(), .tuning = {}});
    CAPTURE(habit.name);
    const Pipeline with = Pipeline::from_json(pipeline_json(chain), registry);
    CHECK(with.spec().shuffle);
    CHECK(with.samples() == chain.planted.chain.samples);
    REQUIRE(with.stages().size() == chain.stages.size());
    CHECK(static_cast<int>(with.stages().size()) == chain.planted.chain.boundaries());
    for (std::size_t s = 0; s < chain.planted.chain.stages.size(); ++s) {
      CHECK(with.stages()[s].name == chain.planted.chain.stages[s].name);
    }
    CHECK_NOTHROW(Pipeline::from_json(pipeline_json(chain, false), registry));
  }
}

TEST_CASE("chains keep to the limits of the corpus") {
  std::set<std::int64_t> batches;
  std::set<int> workers;
  double smallest = 1e9;
  double largest = 0;
  for_all_chains(all_habits(), [&](const Habit&, const HabitChain& chain) {
    const SimulatedChain& costs = chain.planted.chain;
    CHECK(costs.step_seconds >= 4e-3);
    CHECK(costs.step_seconds <= 20e-3);
    CHECK(costs.samples % 2 == 1);
    CHECK(chain.first >= 1);
    CHECK(chain.last <= static_cast<int>(costs.stages.size()));
    batches.insert(costs.batch_size);
    workers.insert(costs.workers);
    smallest = std::min(smallest, costs.source_bytes);
    largest = std::max(largest, costs.source_bytes);
  });
  CHECK(*batches.begin() <= 2);
  CHECK(*batches.rbegin() == 256);
  CHECK(workers == std::set<int>{0, 1, 2, 3, 4});
  CHECK(smallest < 20e3);
  CHECK(smallest >= 10e3);
  CHECK(largest > 2e6);
  CHECK(largest <= 3e6 + selftest::kLabelBytes);
}

TEST_CASE("without the habit, only its stages differ") {
  for (const Habit& habit : all_habits()) {
    const HabitChain chain = habit.draw(habit.name, 1, kContext);
    CAPTURE(habit.name);
    for (std::size_t s = 0; s < chain.stages.size(); ++s) {
      const int stage = static_cast<int>(s) + 1;
      const bool is_habit = stage >= chain.first && stage <= chain.last;
      CHECK((chain.stages[s].json != chain.stages[s].without) == is_habit);
    }
  }
}

TEST_CASE("a planned habit costs the most, and its drop is the plan's") {
  for (const char* const name :
       {"content-cv1", "remembers-undeclared", "page-cache", "burst-credits", "damaged-samples"}) {
    const HabitChain chain = drawn(name, 1);
    const HabitTruth truth = plan_truth(chain);
    CAPTURE(name);
    const auto habit = static_cast<std::size_t>(chain.last) - 1;
    CHECK(std::ranges::max_element(truth.payoffs) - truth.payoffs.begin() ==
          static_cast<std::ptrdiff_t>(habit));
    CHECK(truth.payoffs[habit] > 0.14);
    CHECK(truth.truth.largest == chain.last);
    REQUIRE(truth.truth.drops.size() == chain.stages.size());
    CHECK(truth.truth.drop_intervals.size() == chain.stages.size());
    CHECK(truth.payoffs.size() == chain.stages.size());
  }
}

TEST_CASE("the loss of a rare cost is that of its mean") {
  const HabitChain chain = drawn("rare-costly", 1);
  const SimulatedChain& costs = chain.planted.chain;
  double busy = 0;
  for (const SimulatedStage& stage : costs.stages) busy += stage.seconds;
  const double by_mean =
      1 - costs.step_seconds / static_cast<double>(costs.batch_size) * costs.workers / busy;
  REQUIRE(costs.workers > 0);
  REQUIRE(by_mean > 0.3);
  CHECK(plan_truth(chain).truth.loss == doctest::Approx(by_mean).epsilon(0.02));
}

TEST_CASE("the slack loader is flat by plan, and faster than its step") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const HabitChain chain = drawn("slack-loader", seed);
    CHECK(planned_loss(chain) < 0.005);
    CHECK(chain.planted.chain.ring_prefetch >= 8);
  }
}

TEST_CASE("a loader that keeps up with the lower clock is too slow for the higher one") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const HabitChain chain = drawn("falling-clock-flat", seed);
    CHECK(planned_loss(chain) < 0.005);
    HabitChain rested = chain;
    const auto emulate = nlohmann::json::parse(chain.emulate);
    rested.planted.chain.step_seconds = 1e-3 * emulate["step_ms"].get<double>();
    CHECK(planned_loss(rested) > 0.005);
  }
}

TEST_CASE("launching takes as long as the drawn step, or the work does and fills the queue") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const HabitChain chain = drawn("launch-bound", seed);
    const auto emulate = nlohmann::json::parse(chain.emulate);
    const auto launches = emulate["launches"].get<double>();
    const double launching = 1e-6 * launches * emulate["launch_us"].get<double>();
    const double work = 1e-3 * emulate["step_ms"].get<double>();
    CHECK(std::max(launching, work) == doctest::Approx(chain.planted.chain.step_seconds));
    CHECK((launching > work) == (seed % 2 == 1));
    if (launching < work) CHECK(emulate["launch_queue"].get<double>() <= launches / 2);
  }
}

TEST_CASE("a stall costs more than the steady stage next to it") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const HabitChain chain = drawn("stalls-next-to-steady", seed);
    const HabitTruth truth = plan_truth(chain);
    const auto stall = static_cast<std::size_t>(chain.last) - 1;
    CHECK(chain.stages[stall].name == "fetch_shard");
    CHECK(truth.payoffs[stall] > 0.2);
    CHECK(*std::ranges::max_element(truth.payoffs) == truth.payoffs[stall]);
  }
}

TEST_CASE("the truth of a cost that grows holds the drops before and after") {
  const HabitChain chain = drawn("mid-run-change", 1);
  const HabitTruth truth = plan_truth(chain);
  HabitChain constant = chain;
  constant.grows_to = 1;
  const HabitTruth before = plan_truth(constant);
  const auto habit = static_cast<std::size_t>(chain.last) - 1;
  const Interval& held = truth.truth.drop_intervals[habit];
  CHECK(held.low < before.truth.drops[habit]);
  CHECK(held.high > truth.truth.drops[habit]);
  CHECK(truth.truth.drops[habit] > before.truth.drops[habit] + 0.1);
}

TEST_CASE("an unknown habit is refused with the nearest name") {
  CHECK_THROWS_WITH_AS(static_cast<void>(habit_named("rare-costli", all_habits())),
                       doctest::Contains("rare-costly"), Error);
}

TEST_CASE("real chains put a wait of each size at each category") {
  for (const Habit& habit : real_chains()) {
    CAPTURE(habit.name);
    REQUIRE(static_cast<bool>(habit.tune));
    const bool emulated = !habit.name.ends_with("-cpu");
    std::set<std::string> texts;
    std::set<Category> places;
    const std::uint64_t cases = emulated ? 15 : 12;
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
      const HabitChain chain = habit.draw(habit.name, seed, kContext);
      CHECK(chain.measured);
      CHECK(chain.first == chain.last);
      CHECK(static_cast<int>(chain.stages.size()) == chain.planted.chain.boundaries());
      const std::string& name = chain.stages[static_cast<std::size_t>(chain.first) - 1].name;
      places.insert(chain.planted.category(chain.first));
      CHECK(name == (chain.planted.category(chain.first) == Category::copy ? "copy" : "delay"));
      const auto with = nlohmann::json::parse(pipeline_json(chain));
      const auto without = nlohmann::json::parse(pipeline_json(chain, false));
      CHECK(with != without);
      CHECK(with["stages"].size() == without["stages"].size() + (name == "delay" ? 1 : 0));
    }
    CHECK(places.size() == (emulated ? 5 : 4));
  }
}

TEST_CASE("a file of scores holds the scores and the truths of a run") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("scores.jsonl");
  HabitTruth truth;
  truth.truth.seconds_per_sample = {2, 1};
  set_drops(truth.truth, 0);
  {
    truth::ScoreLines lines(truth::new_score_file("bisect", "habits, real time", 60), path);
    lines.append(to_line(truth, "shared-lock", 1));
    HabitScore score;
    score.score.planted = "shared-lock";
    score.score.seed = 1;
    lines.append(to_line(score));
  }
  std::ofstream(path, std::ios::app) << "{\"seed\": 2, \"cut";
  const HabitFile file = load_habits(path);
  REQUIRE(file.scores.size() == 1);
  CHECK(file.scores[0].score.planted == "shared-lock");
  CHECK(file.made.budget_seconds == 60);
  // What is in the file is not judged again.
  int finished = 0;
  const auto scores = run_habits(
      {.habits = {habit_named("shared-lock", all_habits())}, .last_seed = 1, .resume = path},
      [&](const HabitScore&) { ++finished; });
  CHECK(finished == 0);
  CHECK(scores.size() == 1);
  CHECK_THROWS_AS(run_habits({.habits = {}, .budget_seconds = 30, .resume = path}, {}), Error);
}

// The stages with habits: what they spend, visit by visit, without a clock.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "bench/habits/stages/changing_cost.hpp"
#include "bench/habits/stages/fetch_ahead.hpp"
#include "bench/habits/stages/job_pool.hpp"
#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/sample_costs.hpp"
#include "bench/habits/stages/seen_set.hpp"
#include "bench/habits/stages/spending.hpp"
#include "bench/habits/stages/token_bucket.hpp"
#include "stages/conformance.hpp"
#include "support/files.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/statistics.hpp"

using namespace cachebisect;
using namespace cachebisect::habits;

namespace {

const Registry& registry() {
  static const Registry made = [] {
    Registry all;
    register_habits(all);
    return all;
  }();
  return made;
}

template <class Kind>
std::shared_ptr<Kind> make(const std::string& use, Params params) {
  auto stage = test::make<Kind>(registry().stage(use), std::move(params));
  REQUIRE(stage);
  return stage;
}

/// Microseconds that a stage spends on sample `index`.
double cost(const SpendingStage& stage, std::uint64_t index, std::uint64_t epoch = 0) {
  Arena arena;
  const RandomKey key{.seed = 7, .epoch = epoch, .index = index, .stage = hash_name("stage")};
  return 1e6 * stage.seconds(SampleContext(key, arena));
}

Params params(const std::vector<std::pair<std::string, ParamValue>>& members) {
  Params result;
  for (const auto& [name, value] : members) result.set(name, value);
  return result;
}

/// Costs of samples 0 to count - 1.
std::vector<double> costs(const SpendingStage& stage, std::uint64_t count) {
  std::vector<double> result;
  for (std::uint64_t i = 0; i < count; ++i) result.push_back(cost(stage, i));
  return result;
}

}  // namespace

TEST_CASE("every type can be made from its example") {
  CHECK(registry().stages().size() == 17);
  for (const StageType& type : registry().stages()) {
    CAPTURE(type.type);
    CHECK(test::make_example<Stage>(type));
  }
}

TEST_CASE("a rare cost is drawn anew at each visit, or fixed by the index") {
  const std::vector<std::pair<std::string, ParamValue>> members{{"ms", 12.0}, {"share", 0.1}};
  const auto drawn = make<SpendingStage>("habit.rare", params(members));
  auto by_index = members;
  by_index.emplace_back("by", std::string("index"));
  const auto fixed = make<SpendingStage>("habit.rare", params(by_index));
  for (const auto& stage : {drawn, fixed}) {
    const auto all = costs(*stage, 10'000);
    CHECK(mean(all) == doctest::Approx(1'200).epsilon(0.1));
    CHECK(std::ranges::all_of(all, [](double c) { return c == 0 || c == 12'000; }));
  }
  const auto slow_again = [](const SpendingStage& stage) {
    int count = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      count += cost(stage, i, 0) > 0 && cost(stage, i, 1) > 0 ? 1 : 0;
    }
    return count;
  };
  CHECK(slow_again(*fixed) > 150);
  CHECK(slow_again(*drawn) < 50);
}

TEST_CASE("what content costs has the mean and the cv asked for, and is fixed by the index") {
  for (const double cv : {0.6, 1.0}) {
    const ContentFactors factors(cv, 3);
    std::vector<double> period;
    for (std::uint64_t i = 0; i < ContentFactors::kPeriod; ++i) period.push_back(factors.of(i));
    CHECK(mean(period) == doctest::Approx(1));
    CHECK(coefficient_of_variation(period) == doctest::Approx(cv).epsilon(0.03));
  }
  const auto stage = make<SpendingStage>(
      "habit.content", params({{"us", 100.0}, {"cv", 1.0}, {"variant", std::int64_t{3}}}));
  CHECK(cost(*stage, 5) == doctest::Approx(100 * ContentFactors(1, 3).of(5)));
  CHECK(cost(*stage, 5, 9) == cost(*stage, 5, 0));
  CHECK(cost(*stage, 5) != doctest::Approx(100 * ContentFactors(1, 4).of(5)));
}

TEST_CASE("a stall comes once in so many samples") {
  const auto stage =
      make<SpendingStage>("habit.stall", params({{"ms", 116.0}, {"every", std::int64_t{640}}}));
  const auto all = costs(*stage, 6'400);
  CHECK(std::ranges::count(all, 116'000) == 10);
  CHECK(all[639] == 116'000);
  CHECK(all[640] == 0);
}

TEST_CASE("only a sample's first visit is costly to a stage that remembers") {
  for (const char* const use : {"habit.remember", "habit.remember_declared"}) {
    const auto stage = make<SpendingStage>(
        use, params({{"us", 1500.0}, {"again_us", 5.0}, {"samples", std::int64_t{1000}}}));
    CHECK(cost(*stage, 17) == doctest::Approx(1500));
    CHECK(cost(*stage, 17) == doctest::Approx(5));
    CHECK(cost(*stage, 18) == doctest::Approx(1500));
    CHECK_THROWS_AS(cost(*stage, 1000), Error);
  }
  CHECK(registry().stage("habit.remember_declared").traits.stateful);
  CHECK_FALSE(registry().stage("habit.remember").traits.stateful);
}

TEST_CASE("a first use is costly once on each thread") {
  const auto stage = make<SpendingStage>("habit.first_use", params({{"ms", 300.0}}));
  CHECK(cost(*stage, 0) == doctest::Approx(300'000));
  CHECK(cost(*stage, 1) == 0);
  double elsewhere = 0;
  std::jthread([&] { elsewhere = cost(*stage, 2); }).join();
  CHECK(elsewhere == doctest::Approx(300'000));
}

TEST_CASE("a cost changes some time after the first sample") {
  ChangingCost changing(2e-3, 2, 10);
  CHECK(changing.at(100) == 2e-3);
  CHECK(changing.at(109.9) == 2e-3);
  CHECK(changing.at(110) == 4e-3);
  CHECK(changing.at(500) == 4e-3);
}

TEST_CASE("damaged samples are a share, fixed by the index") {
  const auto stage = make<SpendingStage>(
      "habit.damaged", params({{"us", 50.0}, {"share", 0.02}, {"variant", std::int64_t{1}}}));
  std::set<std::uint64_t> damaged;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    try {
      const double spent = cost(*stage, i);
      CHECK(spent == doctest::Approx(50));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::data);
      damaged.insert(i);
    }
  }
  CHECK(damaged.size() > 300);
  CHECK(damaged.size() < 500);
  CHECK_THROWS_AS(cost(*stage, *damaged.begin(), 5), Error);
}

TEST_CASE("a set of seen samples counts them once, and a later one finds them in its file") {
  SeenSet memory(130);
  CHECK(memory.insert(0));
  CHECK(memory.insert(129));
  CHECK_FALSE(memory.insert(129));
  CHECK(memory.count() == 2);
  CHECK_THROWS_AS(memory.insert(130), Error);
  const test::TemporaryFolder folder;
  {
    SeenSet first(1000, folder.path("seen"));
    CHECK(first.insert(999));
  }
  SeenSet second(1000, folder.path("seen"));
  CHECK(second.count() == 1);
  CHECK_FALSE(second.insert(999));
  CHECK_THROWS_AS(SeenSet(10, folder.path("no/such/folder")), Error);
}

TEST_CASE("a set of seen samples is right from several threads") {
  SeenSet seen(64);
  std::atomic<int> inserted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < 64; ++i) inserted += seen.insert(i) ? 1 : 0;
      });
    }
  }
  CHECK(inserted == 64);
}

TEST_CASE("a token bucket lends nothing and refills at its rate") {
  TokenBucket bucket(3, 10);
  for (int i = 0; i < 3; ++i) CHECK(bucket.take(50) == 50);
  CHECK(bucket.take(50) == doctest::Approx(50.1));
  CHECK(bucket.take(50) == doctest::Approx(50.2));
  // By then both promises are kept, and half a token is left.
  CHECK(bucket.take(50.25) == doctest::Approx(50.3));
  CHECK(bucket.take(51) == 51);
  // A long rest fills it to the brim, not beyond.
  for (int i = 0; i < 3; ++i) CHECK(bucket.take(1000) == 1000);
  CHECK(bucket.take(1000) == doctest::Approx(1000.1));
  // A caller that is late by its own clock is served in turn.
  CHECK(bucket.take(999) == doctest::Approx(1000.2));
}

TEST_CASE("a client that reads ahead keeps at most so many samples, and serves every read") {
  constexpr std::uint64_t kAhead = 8;
  FetchAhead client(1e-6, kAhead);
  for (std::uint64_t taken = 1; taken <= 100; ++taken) {
    client.take();
    const std::uint64_t fetched = client.fetched();
    CHECK(fetched >= taken);
    CHECK(fetched <= taken + kAhead);
  }
}

TEST_CASE("a pool runs every part before it returns, also for several callers") {
  JobPool pool(3);
  std::atomic<int> ran{0};
  const std::function<void()> part = [&] { ++ran; };
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 2; ++c) {
      callers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) pool.run(3, part);
      });
    }
  }
  CHECK(ran == 300);
  const int before = ran;
  pool.run(5, part);
  CHECK(ran == before + 5);
}

TEST_CASE("an item is expanded by repeating it, and reduced to its sum") {
  Sample input;
  test::fill(input.field("image"), DType::uint8, Shape{300}, 1);
  const auto expand = make<SampleStage>("habit.expand", params({{"bytes", std::int64_t{1000}}}));
  CHECK(expand->infer({{"image", DType::uint8, Shape{300}}})[0].shape == Shape{1000});
  test::Worker worker;
  const auto& large = worker.run(*expand, input);
  const auto from = input.field("image").as<std::uint8_t>();
  const auto to = large.field("image").as<std::uint8_t>();
  REQUIRE(to.size() == 1000);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    CHECK(to[i] == from[i % 300]);
    total += to[i];
  }
  const auto sum = make<SampleStage>("habit.sum", {});
  CHECK(sum->infer({{"image", DType::uint8, Shape{1000}}})[0] ==
        FieldSpec{"image", DType::int64, Shape{}});
  test::Worker other;
  CHECK(other.run(*sum, large).field("image").as_integer() == total);
}

TEST_CASE("the stage that writes its input does so") {
  Sample input;
  test::fill(input.field("image"), DType::uint8, Shape{4}, 1);
  const auto stage = make<SampleStage>("habit.write_input", params({{"us", 0.0}}));
  const auto before = input.field("image").as<std::uint8_t>()[0];
  test::Worker worker;
  static_cast<void>(worker.run(*stage, input));
  CHECK(input.field("image").as<std::uint8_t>()[0] == static_cast<std::uint8_t>(before + 1));
}

// 2,000 chains of the published corpus in virtual time, under every kind of noise. Only a broken
// method misses the bounds; docs/understand/accuracy.md has the rates.
#include <string>

#include "bench/truth/corpus_run.hpp"
#include "bench/truth/noise_choice.hpp"
#include <doctest/doctest.h>

#include "cachebisect/selftest/summary.hpp"

using namespace cachebisect;
using namespace cachebisect::truth;
using selftest::Score;

namespace {

struct Rates {
  double right = 0;  ///< of drops of 10% and more
  double wrong_stage = 0;
  double alarms = 0;  ///< of flat chains
  double coverage = 0;
};

/// What is said to be open is not excluded by the bound in the same sentence.
void check_consistent(const Report& report) {
  CAPTURE(report.verdict.text);
  if (!report.verdict.text.starts_with("The input costs at most")) return;
  CHECK(report.loss.total.interval.value().high >= report.settings.min_drop);
}

Rates run(const std::string& noise, double cv, std::uint64_t first_seed, int chains,
          double budget = 60, Circumstance meets = Circumstance::none) {
  RunSettings settings;
  settings.meets = meets;
  settings.simulated = true;
  settings.noise = noise;
  settings.white_cv = cv;
  settings.budget_seconds = budget;
  settings.draw = selftest::corpus(true, 2);
  settings.draw.max_stages = 16;
  settings.draw.slow_step_share = 0;
  std::vector<double> trace;
  if (noise == "trace") trace = load_trace(CACHEBISECT_SOURCE_DIR "/tests/data/noise-trace.txt");
  constexpr int kThreads = 2;
  const ScoreFile file =
      run_corpus(first_seed, chains, settings, noise_by_name(noise, cv, std::move(trace)), "",
                 kThreads, [](const JudgedChain& judged) { check_consistent(judged.report); });
  MESSAGE(noise << ", cv " << cv << ", " << to_string(meets) << "\n"
                << selftest::summary(file.scores));
  REQUIRE(file.scores.size() == static_cast<std::size_t>(chains));
  const auto& scores = file.scores;
  const auto any = [](const Score&) { return true; };
  const auto large = [](const Score& s) { return s.largest_drop >= 0.10; };
  const auto flat = [](const Score& s) { return s.shape == selftest::Pattern::flat; };
  return {rate(scores, large, [](const Score& s) { return s.outcome == selftest::Outcome::right; })
              .share(),
          rate(scores, any, [](const Score& s) { return s.wrong_stage; }).share(),
          rate(scores, flat, [](const Score& s) { return s.false_alarm; }).share(),
          coverage(scores).share()};
}

void check_never_wrong(const Rates& rates) {
  CHECK(rates.wrong_stage <= 0.03);
  CHECK(rates.alarms <= 0.02);
  CHECK(rates.coverage >= 0.98);
}

}  // namespace

TEST_CASE("the corpus is judged right in noise of 1% per block") {
  const Rates rates = run("white", 0.01, 1, 700);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.90);
}

TEST_CASE("the corpus is judged right in noise of 3% per block") {
  const Rates rates = run("white", 0.03, 100001, 300);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.80);
}

TEST_CASE("the corpus is judged right on a recorded busy machine") {
  const Rates rates = run("trace", 0.01, 200001, 200, 120);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.30);
}

TEST_CASE("the corpus is judged right under drift") {
  const Rates rates = run("drift", 0.01, 300001, 200);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.60);
}

TEST_CASE("the corpus is judged right when the machine slows down for good") {
  const Rates rates = run("step", 0.01, 400001, 200);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.80);
}

TEST_CASE("the corpus is judged right among stalls in all arms") {
  const Rates rates = run("burst", 0.01, 500001, 200);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.70);
}

TEST_CASE("the corpus is judged right among stalls in one arm") {
  const Rates rates = run("burst-one-arm", 0.01, 600001, 200);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.70);
}

TEST_CASE("the corpus is judged right where samples differ for good, in a random order") {
  const Rates rates = run("white", 0.01, 700001, 200, 60, Circumstance::content);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.85);
}

TEST_CASE("the corpus is judged right where a block leaves caches cold for the next one") {
  const Rates rates = run("white", 0.01, 800001, 200, 60, Circumstance::carried);
  check_never_wrong(rates);
  CHECK(rates.right >= 0.90);
}

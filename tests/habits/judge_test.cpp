// Judging a report on a chain with a habit, with scores written to lines and read back.
#include "bench/habits/judge.hpp"

#include <utility>

#include "bench/habits/table.hpp"
#include "support/files.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;
using namespace cachebisect::habits;
using selftest::Outcome;

namespace {

/// storage, crop, tokenize (the habit), collate, copy.
HabitChain some_chain() {
  HabitChain chain;
  chain.habit = "remembers-undeclared";
  chain.planted.seed = 5;
  chain.planted.chain.stages = {{.name = "storage", .category = Category::read},
                                {.name = "crop", .category = Category::augment},
                                {.name = "tokenize", .category = Category::decode}};
  for (const char* const name : {"storage", "crop", "tokenize", "collate", "copy"}) {
    chain.stages.push_back({.name = name, .json = "", .without = ""});
  }
  chain.first = chain.last = 3;
  return chain;
}

/// The stage with the habit costs `payoff`, crop `other`.
HabitTruth some_truth(double payoff, double other = 0.01) {
  HabitTruth truth;
  truth.truth.planted = "remembers-undeclared";
  const double step = 1e-3;
  const double live = step / (1 - payoff - other);
  truth.truth.seconds_per_sample = {live, live, step / (1 - payoff), step, step, step};
  set_drops(truth.truth, 0.005);
  truth.payoffs = {0, other, payoff, 0, 0};
  return truth;
}

Report some_report(VerdictKind kind, const std::string& stage = "") {
  Report report;
  for (const StageText& text : some_chain().stages) report.stages.push_back({.name = text.name});
  report.verdict.kind = kind;
  report.verdict.stage = stage;
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    if (report.stages[s].name == stage) report.verdict.stage_index = static_cast<int>(s) + 1;
  }
  return report;
}

HabitScore judged(const Report& report, const HabitTruth& truth) {
  return judge(report, some_chain(), truth);
}

Outcome outcome(const Report& report, const HabitTruth& truth) {
  return judged(report, truth).score.outcome;
}

}  // namespace

TEST_CASE("the costliest stage is right, another one is wrong") {
  const HabitTruth truth = some_truth(0.6);
  CHECK(outcome(some_report(VerdictKind::drop, "tokenize"), truth) == Outcome::right);
  const HabitScore wrong = judged(some_report(VerdictKind::drop, "storage"), truth);
  CHECK(wrong.score.outcome == Outcome::wrong);
  CHECK(wrong.score.wrong_stage);
  CHECK(wrong.score.expected == "tokenize");
  CHECK(wrong.score.verdict == "storage");
  CHECK(outcome(some_report(VerdictKind::anomaly), truth) == Outcome::wrong);
  CHECK(outcome(some_report(VerdictKind::spread), truth) == Outcome::wrong);
}

TEST_CASE("a stage that costs nearly as much as the costliest one is as good an answer") {
  CHECK(outcome(some_report(VerdictKind::drop, "crop"), some_truth(0.3, 0.28)) == Outcome::right);
  CHECK(outcome(some_report(VerdictKind::drop, "crop"), some_truth(0.3, 0.26)) == Outcome::wrong);
}

TEST_CASE("a verdict that tells to fix another stage first is judged by that stage") {
  Report report = some_report(VerdictKind::drop, "crop");
  report.verdict.fix_first = "tokenize";
  CHECK(outcome(report, some_truth(0.4, 0.3)) == Outcome::right);
  CHECK(outcome(report, some_truth(0.3, 0.4)) == Outcome::wrong);
}

TEST_CASE("a tie or a span that holds the costliest stage is right") {
  const HabitTruth truth = some_truth(0.6);
  Report tied = some_report(VerdictKind::drop, "crop");
  tied.verdict.tied_with = {"tokenize"};
  CHECK(outcome(tied, truth) == Outcome::right);
  Report span = some_report(VerdictKind::drop, "crop");
  span.stages[1].span = span.stages[2].span = "stages 2-3 together";
  CHECK(outcome(span, truth) == Outcome::right);
  span.stages[2].span = "stages 3-4 together";
  CHECK(outcome(span, truth) == Outcome::wrong);
}

TEST_CASE("a verdict that names every stage names none") {
  Report report = some_report(VerdictKind::drop, "tokenize");
  report.verdict.tied_with = {"storage", "crop", "collate"};
  CHECK(outcome(report, some_truth(0.6)) == Outcome::right);
  report.verdict.tied_with.push_back("copy");
  CHECK(outcome(report, some_truth(0.6)) == Outcome::inconclusive);
}

TEST_CASE("flat is right only if the sustained loss is below min_drop and half a percent") {
  const Report flat = some_report(VerdictKind::flat);
  CHECK(outcome(flat, some_truth(0.03)) == Outcome::right);
  CHECK(outcome(flat, some_truth(0.044)) == Outcome::right);
  CHECK(outcome(flat, some_truth(0.05)) == Outcome::wrong);
  const HabitScore alarm = judged(some_report(VerdictKind::drop, "tokenize"), some_truth(0.02));
  CHECK(alarm.score.outcome == Outcome::wrong);
  CHECK(alarm.score.false_alarm);
  CHECK(alarm.score.expected == "flat");
}

TEST_CASE("a warning that takes a verdict back makes it inconclusive, unless it is right") {
  const HabitTruth truth = some_truth(0.6);
  for (const char* const code : {"not_sustained", "not_stationary"}) {
    Report flat = some_report(VerdictKind::flat);
    flat.warnings = {{code, "live takes twice as long", ""}};
    CHECK(outcome(flat, truth) == Outcome::inconclusive);
    Report right = some_report(VerdictKind::drop, "tokenize");
    right.warnings = flat.warnings;
    CHECK(outcome(right, truth) == Outcome::right);
  }
  Report other = some_report(VerdictKind::flat);
  other.warnings = {{"other_load", "not_sustained", ""}};
  CHECK(outcome(other, truth) == Outcome::wrong);
}

TEST_CASE("an inconclusive verdict is asked whether it names the cause") {
  const HabitTruth truth = some_truth(0.6);
  Report report = some_report(VerdictKind::inconclusive);
  report.verdict.text = "Not certain: most of it seems lost at storage.";
  CHECK(judged(report, truth).score.outcome == Outcome::inconclusive);
  CHECK_FALSE(judged(report, truth).names_cause);
  report.warnings = {{"remembers_samples", "tokenize takes 1.5 ms live and 5 us replayed", ""}};
  CHECK(judged(report, truth).names_cause);
  report.warnings = {{"other_load", "tokenize", ""}};
  CHECK_FALSE(judged(report, truth).names_cause);
  report.verdict.text = "Not certain: 60% seems lost at tokenize, or at storage.";
  CHECK(judged(report, truth).names_cause);
  report.verdict.kind = VerdictKind::drop;
  report.verdict.stage = "storage";
  report.verdict.stage_index = 1;
  CHECK_FALSE(judged(report, truth).names_cause);
}

TEST_CASE("a name counts as a word of its own") {
  CHECK(mentions("at 'crop', 12%", "crop"));
  CHECK(mentions("crop", "crop"));
  CHECK_FALSE(mentions("at crop_2 and uncrop and crop-all", "crop"));
  CHECK(mentions("crop_2, crop", "crop"));
  CHECK_FALSE(mentions("anything", ""));
}

TEST_CASE("printed intervals are counted against the truth, those of spans are not") {
  const HabitTruth truth = some_truth(0.6);
  Report report = some_report(VerdictKind::drop, "tokenize");
  report.stages[0].drop.interval = Interval{0.05, 0.1};    // the truth is 0
  report.stages[1].drop.interval = Interval{-0.01, 0.10};  // holds it
  report.stages[2].drop.interval = Interval{0.604, 0.7};   // within the slack of the truth
  report.stages[3].drop.interval = Interval{0.3, 0.4};
  report.stages[3].span = "stages 4-5 together";
  const HabitScore score = judged(report, truth);
  CHECK(score.score.intervals == 3);
  CHECK(score.score.covered == 2);
}

TEST_CASE("the time to explain is not time to the verdict") {
  Report report = some_report(VerdictKind::drop, "tokenize");
  report.timing.measure_seconds = 20;
  report.timing.explain_seconds = 12;
  CHECK(judged(report, some_truth(0.6)).score.seconds == doctest::Approx(8));
}

TEST_CASE("an error is right only of a habit that no stage may have, and if it names the stage") {
  HabitChain chain = some_chain();
  const std::string message = "stage 3 ('tokenize') writes its input";
  CHECK(judge_error(message, chain, some_truth(0.6)).score.outcome == Outcome::wrong);
  chain.forbidden = true;
  CHECK(judge_error(message, chain, some_truth(0.6)).score.outcome == Outcome::right);
  const HabitScore other = judge_error("a stage writes its input", chain, some_truth(0.6));
  CHECK(other.score.outcome == Outcome::wrong);
  CHECK(other.score.verdict == "error");
  CHECK(other.sentence == "a stage writes its input");
}

TEST_CASE("a score and a truth survive being written as lines") {
  Report report = some_report(VerdictKind::inconclusive);
  report.verdict.text = "Most of it at tokenize.";
  report.warnings = {{"not_sustained", "", ""}};
  const HabitScore score = judged(report, some_truth(0.6));
  const HabitScore again = habit_score_of(to_line(score));
  CHECK(to_line(again) == to_line(score));
  CHECK(again.names_cause);
  CHECK(again.warnings == std::vector<std::string>{"not_sustained"});
  CHECK(again.sentence == report.verdict.text);
  CHECK_THROWS_AS(habit_score_of(selftest::to_line(score.score)), Error);

  HabitTruth truth = some_truth(0.6);
  truth.tuning = {.step_ms = 8, .wait_us = 120};
  const std::string line = to_line(truth, "shared-lock", 9);
  CHECK(is_truth(line));
  CHECK_FALSE(is_truth(to_line(score)));
  const NamedTruth named = truth_of(line);
  CHECK(named.habit == "shared-lock");
  CHECK(named.seed == 9);
  CHECK(to_line(named.truth, named.habit, named.seed) == line);
  CHECK_THROWS_AS(truth_of("{}"), Error);
}

TEST_CASE("the table has a row per habit and one for all, and lists wrong verdicts") {
  HabitFile file;
  file.made.machine = "a machine";
  file.scores = {judged(some_report(VerdictKind::drop, "tokenize"), some_truth(0.6)),
                 judged(some_report(VerdictKind::drop, "storage"), some_truth(0.6)),
                 judged(some_report(VerdictKind::inconclusive), some_truth(0.6))};
  file.scores[1].sentence = "storage costs 68%.";
  const std::string table = markdown({file});
  CHECK(table.find("| remembers-undeclared | 33.33% ") != std::string::npos);
  CHECK(table.find("1/3 (0 name it)") != std::string::npos);
  CHECK(table.find("| all | 33.33% ") != std::string::npos);
  CHECK(
      table.find("| remembers-undeclared | 5 | tokenize (60%) | storage | storage costs 68%. |") !=
      std::string::npos);
  file.scores.erase(file.scores.begin() + 1);
  CHECK(markdown({file}).find("Wrong verdicts") == std::string::npos);
}

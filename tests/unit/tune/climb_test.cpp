// The search: what is tried, kept and left, and how it ends.
#include "cachebisect/tune/climb.hpp"

#include <set>
#include <string>

#include "support/text.hpp"
#include "unit/tune/simulated_subject.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

SimulatedChain one_worker() {
  SimulatedChain chain = starved_chain();
  chain.workers = 1;
  chain.cores = 8;
  return chain;
}

}  // namespace

TEST_CASE("workers are added until the step is the limit") {
  SimulatedSubject subject(one_worker());
  const tune::Result result = tune::climb(subject, {});
  CHECK(result.end == "the training step is the limit");
  REQUIRE(result.kept() >= 1);
  REQUIRE(result.ceiling.value);
  REQUIRE(result.best.value);
  CHECK(*result.best.value > 0.97 * *result.ceiling.value);
  CHECK(*result.best.value > 2 * *result.start.value);
  CHECK(subject.chain.workers > 1);
  CHECK(result.pipeline_json == subject.json());
  CHECK(subject.diagnoses == result.kept() + 1);
}

TEST_CASE("what a kept change reaches is what the next diagnosis measured") {
  SimulatedSubject subject(one_worker());
  const tune::Result result = tune::climb(subject, {});
  REQUIRE_FALSE(result.trials.empty());
  const tune::Trial& last = result.trials.back();
  REQUIRE(last.kept);
  CHECK(last.samples_per_second == result.best.value);
  REQUIRE(last.step_seconds);
  REQUIRE(result.start_seconds);
  CHECK(*last.step_seconds < *result.start_seconds);
}

TEST_CASE("a prediction comes with an interval that holds what was measured") {
  SimulatedSubject subject(one_worker());
  for (const tune::Trial& trial : tune::climb(subject, {}).trials) {
    if (trial.id != "workers") continue;
    REQUIRE(trial.predicted.interval);
    CHECK(trial.predicted.interval->low <= *trial.measured.value + 0.02);
    CHECK(trial.predicted.interval->high >= *trial.measured.value - 0.02);
  }
}

TEST_CASE("what does not gain is shown and not kept, after four trials at most") {
  SimulatedSubject subject(one_worker());
  subject.penalty = -5;
  const tune::Result result = tune::climb(subject, {});
  CHECK(result.kept() == 0);
  CHECK(result.end == "nothing that was tried gains 1% or more");
  CHECK(result.trials.size() >= 1);
  CHECK(result.trials.size() <= 4);
  CHECK(subject.compared.size() == result.trials.size());
  CHECK(subject.diagnoses == 1);
  CHECK(subject.chain.workers == 1);
  CHECK(*result.best.value == *result.start.value);
}

TEST_CASE("a target that is reached ends the search") {
  SimulatedSubject subject(one_worker());
  const tune::Result result = tune::climb(subject, {.target_samples_per_second = 100});
  CHECK(result.end == "the target is reached");
  CHECK(result.trials.empty());
}

TEST_CASE("the budget ends the search") {
  SimulatedSubject subject(one_worker());
  subject.penalty = -5;
  tune::Result result = tune::climb(subject, {.budget_seconds = 1});
  CHECK(result.end == "the budget of measuring has ended");
  CHECK(result.trials.empty());
}

TEST_CASE("a diagnosis that says nothing is repeated with what is left of the budget") {
  SimulatedSubject subject(one_worker());
  subject.seconds_to_certainty = 60;
  const tune::Result result = tune::climb(subject, {.budget_seconds = 1000});
  CHECK(result.end == "the training step is the limit");
  CHECK(result.kept() >= 1);
  CHECK(subject.diagnoses == 2 * (result.kept() + 1));
}

TEST_CASE("a budget too short to be certain is said to have ended") {
  SimulatedSubject subject(one_worker());
  subject.seconds_to_certainty = 60;
  const tune::Result result = tune::climb(subject, {.budget_seconds = 50});
  CHECK(result.end == "the budget of measuring has ended");
  CHECK(result.trials.empty());
  CHECK(subject.diagnoses == 1);
}

TEST_CASE("an interruption keeps what was reached") {
  SimulatedSubject subject(one_worker());
  subject.before_comparing = [] { throw Error(ErrorKind::interrupted, "stopped"); };
  const tune::Result result = tune::climb(subject, {});
  CHECK(result.interrupted);
  CHECK(result.end == "interrupted");
  CHECK(result.pipeline_json == R"({"workers":1})");
  CHECK(result.start.value);
}

TEST_CASE("a change that cannot be run is shown, and the others are tried") {
  SimulatedSubject subject(one_worker());
  int calls = 0;
  subject.before_comparing = [&] {
    if (++calls == 1) throw Error(ErrorKind::data, "the disk is full");
  };
  const tune::Result result = tune::climb(subject, {});
  REQUIRE(result.trials.size() >= 2);
  CHECK(result.trials[0].fault == "the disk is full");
  CHECK_FALSE(result.trials[0].kept);
  CHECK(result.kept() >= 1);
}

TEST_CASE("an error of our own is not taken for a change that cannot be run") {
  SimulatedSubject subject(one_worker());
  subject.before_comparing = [] { throw Error(ErrorKind::internal, "broken"); };
  CHECK_THROWS_WITH_AS((void)tune::climb(subject, {}), "broken", Error);
}

TEST_CASE("an error of the first diagnosis is the caller's") {
  SimulatedSubject subject(one_worker());
  CHECK_THROWS_AS((void)tune::climb(subject, {.budget_seconds = -1}), Error);
}

TEST_CASE("an earlier search is gone on from: nothing is tried again on the same version") {
  SimulatedSubject first(one_worker());
  first.penalty = -5;
  const tune::Result before = tune::climb(first, {});
  REQUIRE_FALSE(before.trials.empty());
  SimulatedSubject subject(one_worker());
  subject.penalty = -5;
  const tune::Result after = tune::climb(subject, {.resumed = before});
  for (const std::vector<Edit>& edits : subject.compared) {
    for (const std::vector<Edit>& earlier : first.compared) {
      CHECK(edits.front().value != earlier.front().value);
    }
  }
  CHECK(after.trials.size() >= before.trials.size());
  CHECK(*after.start.value == *before.start.value);
}

TEST_CASE("an interrupted search that is gone on from reaches the same end") {
  SimulatedSubject interrupted(one_worker());
  interrupted.before_comparing = [] { throw Error(ErrorKind::interrupted, "stopped"); };
  const tune::Result before = tune::climb(interrupted, {});
  SimulatedSubject subject(interrupted.chain);
  const tune::Result after = tune::climb(subject, {.resumed = before});
  CHECK_FALSE(after.interrupted);
  CHECK(after.end == "the training step is the limit");
  CHECK(after.kept() >= 1);
}

TEST_CASE("a job that is changed by overrides of its live arms is diagnosed once") {
  SimulatedReplayer replayer(one_worker(), {.seed = 2, .noise = {.white_cv = 0.01}});
  const tune::Result result = tune::tune(replayer, {});
  REQUIRE(result.kept() >= 1);
  CHECK(result.end == "the training step is the limit");
  CHECK(*result.best.value > 0.97 * *result.ceiling.value);
  CHECK(has(result.verdict, "At the start: "));
  CHECK(has(result.pipeline_json, R"("workers":)"));
  const tune::Trial& last = result.trials.back();
  CHECK(last.kept);
  CHECK(last.samples_per_second == result.best.value);
}

TEST_CASE("of a version that is not diagnosed again, no change is kept twice") {
  SimulatedSubject subject(one_worker());
  subject.again = false;
  const tune::Result result = tune::climb(subject, {.target_samples_per_second = 1e9});
  CHECK(subject.diagnoses == 1);
  std::set<std::string> kept;
  for (const tune::Trial& trial : result.trials) {
    // What is predicted is of the version that was diagnosed.
    CHECK(trial.predicted.value.has_value() == kept.empty());
    if (trial.kept) CHECK(kept.insert(trial.text).second);
  }
  CHECK(result.trials.size() < 20);
}

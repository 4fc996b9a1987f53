// Trials that write to a scratch folder: when they run, what becomes of what they wrote.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/tune/climb.hpp"
#include "cachebisect/tune/ladder_json.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

using Texts = std::vector<std::string>;

Estimate about(double value) {
  return {.value = value, .interval = Interval{0.99 * value, 1.01 * value}};
}

/// What a diagnosis proposes, and what each change gains, are given.
class PlannedSubject final : public tune::Subject {
 public:
  Report diagnose(double) override {
    Report report;
    report.chain.settings.of_file = true;
    report.chain.workers = 2;
    report.live = about(rate);
    report.ceiling = about(1e6);
    report.verdict.kind = VerdictKind::drop;
    if (done.empty() || !again) report.remedies = remedies;
    return report;
  }
  [[nodiscard]] bool diagnoses_again() const override { return again; }

  void make(tune::Trial& trial, double samples_per_second) override {
    done.push_back("make at " + std::to_string(std::lround(samples_per_second)));
    if (before_writing) before_writing();
    trial.folder = "/scratch/" + trial.id;
    trial.edits = {{"/stages/0", '"' + trial.id + '"', EditKind::insert}};
  }
  bool discard(const tune::Trial& trial) override {
    done.push_back("discard " + trial.folder);
    return removes;
  }
  tune::Comparison compare(const std::vector<Edit>& edits, double) override {
    done.push_back("compare " + edits.at(0).value);
    if (before_comparing) before_comparing();
    const double gain = std::log(gains.at(edits.at(0).value));
    return {.gain = {.value = gain, .interval = Interval{gain - 0.01, gain + 0.01}}, .seconds = 1};
  }
  void keep(const std::vector<Edit>& edits) override { done.push_back("keep " + edits[0].value); }
  [[nodiscard]] std::string json() const override { return "{}"; }

  bool again = true;
  double rate = 1000;
  std::vector<Remedy> remedies;
  std::map<std::string, double> gains;  ///< as a factor, by the value of the first edit
  bool removes = true;
  std::function<void()> before_writing;
  std::function<void()> before_comparing;
  Texts done;
};

Remedy prepared(double gain) {
  return {.id = "prepare",
          .stage = "decode",
          .text = "write what decode makes once",
          .predicted = about(gain),
          .lines = {"cachebisect prepare"}};
}

Remedy disk_cache(double gain) {
  return {.id = kDiskCacheId,
          .stage = "decode",
          .text = "keep samples in a file",
          .edits = {{"/stages/2", R"({"use": "cache.disk", "path": "FOLDER"})", EditKind::insert}},
          .predicted = about(gain)};
}

const tune::Options kWithScratch{.scratch = "/scratch"};

}  // namespace

TEST_CASE("a data set that gains is kept, and the trial says where it lies") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000)};
  subject.gains = {{R"("prepare")", 3.0}};
  const tune::Result result = tune::climb(subject, kWithScratch);
  CHECK(subject.done == Texts{"make at 1000", R"(compare "prepare")", R"(keep "prepare")"});
  REQUIRE(result.trials.size() == 1);
  CHECK(result.trials[0].kept);
  CHECK(result.trials[0].written_after == "decode");
  CHECK(result.trials[0].folder == "/scratch/prepare");
  CHECK_FALSE(result.trials[0].removed);
  CHECK(result.untried.empty());
}

TEST_CASE("what was written for a change that does not gain is removed") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000), disk_cache(1000)};
  subject.gains = {{R"("prepare")", 0.9}, {R"("cache_disk")", 1.005}};
  SUBCASE("all of it") {}
  SUBCASE("unless it was there before") { subject.removes = false; }
  const tune::Result result = tune::climb(subject, kWithScratch);
  CHECK(subject.done == Texts{"make at 1000", R"(compare "prepare")", "discard /scratch/prepare",
                              "make at 1000", R"(compare "cache_disk")",
                              "discard /scratch/cache_disk"});
  REQUIRE(result.trials.size() == 2);
  for (const tune::Trial& trial : result.trials) {
    CHECK_FALSE(trial.kept);
    CHECK(trial.removed == subject.removes);
  }
  CHECK(result.end == "nothing that was tried gains 1% or more");
}

TEST_CASE("a version that keeps samples is not given a second place to keep them") {
  PlannedSubject subject;
  subject.again = false;
  const Remedy in_memory{.id = "cache",
                         .text = "keep samples in memory",
                         .edits = {{"/cache", R"("memory")"}},
                         .predicted = about(900)};
  subject.remedies = {disk_cache(2000), prepared(1000), in_memory};
  subject.gains = {{R"("cache_disk")", 2.0}, {R"("prepare")", 2.0}, {R"("memory")", 2.0}};
  CHECK(tune::climb(subject, kWithScratch).trials.size() == 1);
  // Without a folder the one in memory is kept, and nothing else is left to propose.
  const tune::Result result = tune::climb(subject, {});
  CHECK(result.trials.size() == 1);
  CHECK(result.trials[0].id == "cache");
  CHECK(result.untried.empty());
}

TEST_CASE("without a scratch folder nothing is written, and the result says what could be tried") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000), disk_cache(1000)};
  const tune::Result result = tune::climb(subject, {});
  CHECK(subject.done.empty());
  CHECK(result.trials.empty());
  REQUIRE(result.untried.size() == 2);
  CHECK(result.untried[0].text == "write what decode makes once");
  CHECK(*result.untried[0].predicted.value == doctest::Approx(2.0));
  CHECK(result.untried[1].id == kDiskCacheId);
}

TEST_CASE("a disk that is full is a trial that cannot run, and the others are tried") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000), disk_cache(1000)};
  subject.gains = {{R"("cache_disk")", 2.0}};
  int calls = 0;
  subject.before_writing = [&] {
    if (++calls == 1) throw Error(ErrorKind::output, "/scratch: no space left");
  };
  const tune::Result result = tune::climb(subject, kWithScratch);
  REQUIRE(result.trials.size() == 2);
  CHECK(result.trials[0].fault == "/scratch: no space left");
  CHECK(result.trials[0].folder.empty());
  CHECK(result.trials[1].kept);
  // Whole shards stay: the same command goes on with them.
  CHECK(subject.done.at(1) == "make at 1000");
}

TEST_CASE("a version that cannot run leaves nothing behind") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000)};
  subject.before_comparing = [] { throw Error(ErrorKind::data, "sample 3 is damaged"); };
  const tune::Result result = tune::climb(subject, kWithScratch);
  CHECK(subject.done.back() == "discard /scratch/prepare");
  CHECK(result.trials.at(0).fault == "sample 3 is damaged");
  CHECK(result.trials.at(0).removed);
}

TEST_CASE("an interruption says what stays, and the trial is not over") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000)};
  const auto stop = [] { throw Error(ErrorKind::interrupted, "7 of 9 shards are whole"); };
  SUBCASE("while it is written") {
    subject.before_writing = stop;
    CHECK(tune::climb(subject, kWithScratch).end == "interrupted: 7 of 9 shards are whole");
  }
  SUBCASE("while it is compared") {
    subject.before_comparing = stop;
    CHECK(tune::climb(subject, kWithScratch).end ==
          "interrupted; what was written stays in /scratch/prepare");
  }
  CHECK(subject.done.back() != "discard /scratch/prepare");
}

TEST_CASE("a ladder that is gone on from repeats no trial that wrote, whatever its folder was") {
  PlannedSubject subject;
  subject.remedies = {prepared(2000), disk_cache(1000)};
  subject.gains = {{R"("prepare")", 0.9}, {R"("cache_disk")", 0.9}};
  tune::Options options = kWithScratch;
  options.resumed = tune::climb(subject, options);
  REQUIRE(options.resumed->trials.size() == 2);
  subject.done.clear();
  options.scratch = "/elsewhere";
  CHECK(tune::climb(subject, options).trials.size() == 2);
  CHECK(subject.done.empty());
}

TEST_CASE("a ladder that was written and read repeats no stage that was inserted") {
  PlannedSubject subject;
  const std::string stage = R"({"use": "cache.memory", "limit_gb": 1.16})";
  subject.remedies = {{.id = "cache",
                       .text = "keep samples in memory",
                       .edits = {{"/stages/2", stage, EditKind::insert}},
                       .predicted = about(1000)}};
  subject.gains = {{stage, 0.9}};
  const tune::Result first = tune::climb(subject, {});
  REQUIRE(first.trials.size() == 1);
  subject.done.clear();
  tune::Options options;
  options.resumed = tune::read_ladder(tune::to_json(first), "ladder.json");
  CHECK(tune::climb(subject, options).trials.size() == 1);
  CHECK(subject.done.empty());
}

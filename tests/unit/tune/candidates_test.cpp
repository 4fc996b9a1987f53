// What a diagnosis proposes, and in which order.
#include "cachebisect/tune/candidates.hpp"

#include <string>
#include <vector>

#include "support/torch_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/scratch_remedies.hpp"

using namespace cachebisect;
using test::torch_settings;

namespace {

Estimate estimate(double value, double low, double high) {
  return {.value = value, .interval = Interval{low, high}};
}

Report report_at(double live) {
  Report report;
  report.live = estimate(live, live, live);
  report.chain.workers = 2;
  return report;
}

Remedy remedy(std::string id, std::string path, Estimate predicted) {
  return {.id = std::move(id),
          .text = "a change",
          .edits = {{std::move(path), "1"}},
          .predicted = predicted};
}

std::vector<std::string> paths(const std::vector<tune::Trial>& trials) {
  std::vector<std::string> all;
  for (const tune::Trial& trial : trials) {
    all.push_back(trial.edits[0].path + "=" + trial.edits[0].value);
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("changes are ranked by the lower end of what they gain") {
  Report report = report_at(1000);
  report.remedies = {remedy("wide", "/a", estimate(900, -100, 1900)),
                     remedy("narrow", "/b", estimate(300, 250, 350)), remedy("unknown", "/c", {})};
  CHECK(paths(tune::candidates(report, false)) == Texts{"/b=1", "/c=1", "/a=1"});
}

TEST_CASE("what no step reads is tried where the job has an arm without it") {
  Report report = report_at(1000);
  report.chain.settings.of_file = false;
  report.remedies = {
      Remedy{.id = "unused", .text = "leave it out", .lines = {"del batch['depth']"}}};
  CHECK(tune::candidates(report, false).empty());
  report.remedies[0].arm = Arm{.kind = ArmKind::live, .overrides = {{"unused", "\"drop\""}}};
  const auto trials = tune::candidates(report, false);
  CHECK(paths(trials) == Texts{"/unused=\"drop\""});
  CHECK(trials[0].lines == Texts{"del batch['depth']"});
}

TEST_CASE("what cannot gain is not tried, nor what has no edit, nor the same twice") {
  Report report = report_at(1000);
  report.remedies = {remedy("loses", "/a", estimate(-50, -80, 5)),
                     remedy("gains", "/workers", estimate(300, 250, 350)),
                     Remedy{.id = "advice", .text = "buy a machine"}};
  report.what_ifs = {{"workers=1", estimate(1300, 1250, 1350), {}, ""}};
  CHECK(paths(tune::candidates(report, false)) == Texts{"/workers=1"});
}

TEST_CASE("a prediction is a gain on what the job reaches in one piece, if it was run so") {
  Report report = report_at(1000);
  report.remedies = {remedy("cache", "/a", estimate(1000, 800, 1200))};
  CHECK(tune::candidates(report, false)[0].predicted.value == doctest::Approx(1.0));

  report.live_sustained = SustainedReport{.samples_per_second = estimate(1600, 1500, 1700)};
  const Estimate gain = tune::candidates(report, false)[0].predicted;
  REQUIRE(gain.interval);
  CHECK(gain.value == doctest::Approx(2000.0 / 1600 - 1));
  CHECK(gain.interval->low == doctest::Approx(1800.0 / 1700 - 1));
  CHECK(gain.interval->high == doctest::Approx(2200.0 / 1500 - 1));
}

TEST_CASE("what changes training is tried only if that is allowed") {
  Report report = report_at(1000);
  report.remedies = {remedy("partial_decode", "/decode_scale", {}),
                     remedy("batch_size", "/batch_size", {}), remedy("precision", "/p", {})};
  CHECK(tune::candidates(report, false).empty());
  CHECK(tune::candidates(report, true).size() == 3);
}

TEST_CASE("of counts of workers that promise the same, the fewest come first") {
  Report report = report_at(1000);
  report.what_ifs = {{"workers=3", estimate(1980, 1975, 1985), {}, ""},
                     {"workers=4", estimate(1985, 1978, 1990), {}, ""},
                     {"workers=8", estimate(1400, 1390, 1410), {}, ""},
                     {"parse/2", estimate(3000, 2990, 3010), {}, ""}};
  CHECK(paths(tune::candidates(report, false)) == Texts{"/workers=3", "/workers=4", "/workers=8"});
}

TEST_CASE("fewer and more workers are asked about, up to four per core") {
  const auto asked = [](int workers, double cpus) {
    ChainDescription chain;
    chain.workers = workers;
    return tune::questions(chain, cpus);
  };
  CHECK(asked(2, 2.5) == Texts{"workers=1", "workers=3", "workers=4", "workers=8"});
  CHECK(asked(0, 1) == Texts{"workers=1", "workers=2", "workers=4"});
}

TEST_CASE("a job in code is asked under its own names, and told the line to change") {
  ChainDescription chain;
  chain.workers = 2;
  chain.settings = torch_settings();
  CHECK(tune::questions(chain, 2) ==
        Texts{"num_workers=1", "num_workers=3", "num_workers=4", "num_workers=8"});
  Report report = report_at(1000);
  report.chain.settings = torch_settings();
  report.what_ifs = {{"num_workers=3", estimate(1980, 1975, 1985), {}, ""}};
  const auto trials = tune::candidates(report, false);
  REQUIRE(trials.size() == 1);
  REQUIRE(trials[0].lines.size() == 1);
  CHECK(trials[0].lines[0] == "DataLoader(..., num_workers=3)");
}

TEST_CASE("a remedy of a job in code is tried by the settings of its live arm") {
  Report report = report_at(1000);
  report.chain.settings = torch_settings();
  Remedy pinned{.id = "pinned", .text = "pin", .lines = {"DataLoader(..., pin_memory=True)"}};
  pinned.predicted = estimate(300, 250, 350);
  pinned.arm = Arm{.kind = ArmKind::live};
  pinned.arm->overrides = {{"pin_memory", "true"}};
  Remedy text{.id = "order", .text = "reorder", .predicted = estimate(300, 250, 350)};
  report.remedies = {pinned, text};
  const auto found = tune::candidates(report, false);
  CHECK(paths(found) == Texts{"/stages/*/pinned=true"});
  CHECK(found[0].lines == Texts{"DataLoader(..., pin_memory=True)"});
}

TEST_CASE("a data set is written in a trial where the report has its command, in pipeline files") {
  Report report = report_at(1000);
  report.chain.settings.of_file = true;
  Remedy prepare{.id = "prepare", .stage = "decode", .text = "write it once"};
  prepare.predicted = estimate(1000, 800, 1200);
  prepare.lines = {"cachebisect prepare --after decode"};
  Remedy packed{.id = "large_files", .stage = "read", .text = "pack", .lines = {"cachebisect"}};
  Remedy advice{.id = "large_files", .stage = "decode", .text = "pack"};
  report.remedies = {prepare, packed, advice, remedy("cache_disk", "/stages/2", {})};
  const auto found = tune::candidates(report, false);
  REQUIRE(found.size() == 3);
  CHECK(found[0].written_after == "decode");
  CHECK(found[0].predicted.value == doctest::Approx(1.0));
  CHECK(found[1].written_after == "read");
  for (const tune::Trial& trial : found) CHECK(trial.needs_scratch());
  CHECK_FALSE(tune::Trial{.id = "cache"}.needs_scratch());
  report.chain.settings.of_file = false;
  report.remedies = {prepare};
  CHECK(tune::candidates(report, false).empty());
}

TEST_CASE("in code, a data set is written after the stage that the setting names") {
  Report report = report_at(1000);
  report.chain.settings = torch_settings();
  report.chain.settings.all.push_back(
      {.path = kPreparedSetting, .name = kPreparedSetting, .values = SettingValues::word});
  Remedy prepare{.id = "prepare", .stage = "transforms[0] Resize", .text = "write it once"};
  prepare.lines = {"cachebisect.prepare(dataset, folder)"};
  SUBCASE("if the job can do it") {
    prepare.arm =
        Arm{.kind = ArmKind::live, .overrides = {{kPreparedSetting, R"("transforms[0]")"}}};
    report.remedies = {prepare};
    const auto trials = tune::candidates(report, false);
    REQUIRE(trials.size() == 1);
    CHECK(trials[0].written_after == "transforms[0] Resize");
    CHECK(trials[0].needs_scratch());
    CHECK(paths(trials) == Texts{R"(/prepared="transforms[0]")"});
    CHECK(trials[0].lines == prepare.lines);
  }
  SUBCASE("else it is not tried") {
    report.remedies = {prepare};
    CHECK(tune::candidates(report, false).empty());
  }
}

// A JSON report is a recording: the same report follows from it again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/fuzz_cases.hpp"
#include "support/report_json.hpp"
#include "support/sanitized.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/bisect/reanalyse.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/record/recorded_rounds.hpp"
#include "cachebisect/report/json/read_report.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

struct Recorded {
  std::string name;
  SimulatedChain chain;
  BisectOptions options{};
  SimulatedOptions replayer{};
};

/// One of so many reports that bisect() hands out on the way is checked.
constexpr std::size_t kOneOf = kIsSanitized ? 8 : 1;
constexpr SimulatedOptions kNoisy{.noise = {.white_cv = 0.03}};

std::vector<Recorded> runs() {
  std::vector<Recorded> all;
  all.push_back({"drop", starved_chain()});
  all.push_back({"noisy drop", starved_chain(), {}, kNoisy});
  all.push_back({"flat", starved_chain(20e-6), {}, kNoisy});
  all.push_back({"budget", starved_chain(0.3e-3), {.budget_seconds = 0.4}, kNoisy});
  all.push_back({"questions",
                 starved_chain(),
                 {.expect_samples_per_second = 1e5,
                  .cost_per_hour = 98,
                  .what_ifs = {"workers=4", "crop=free"},
                  .verify = true},
                 kNoisy});
  all.push_back({"suspended", starved_chain(), {}, {.faults = {.void_every = 7}}});
  all.push_back(
      {"failed after some rounds", starved_chain(), {}, {.faults = {.fail_at_block = 60}}});
  Recorded inline_loader{"without workers", starved_chain(), {}, kNoisy};
  inline_loader.chain.workers = 0;
  all.push_back(inline_loader);
  return all;
}

/// What bisect() handed out on the way, and the final report.
std::vector<Report> reports_of(const Recorded& run) {
  std::vector<Report> reports;
  SimulatedReplayer replayer(run.chain, run.replayer);
  BisectOptions options = run.options;
  std::size_t handed_out = 0;
  options.partial = [&](const Report& report) {
    if (handed_out++ % kOneOf == 0) reports.push_back(report);
  };
  try {
    reports.push_back(bisect(replayer, options));
  } catch (const Error&) {
    CHECK(run.replayer.faults.fail_at_block.has_value());
  }
  REQUIRE_FALSE(reports.empty());
  return reports;
}

Report recording() { return reports_of(runs()[1]).back(); }

Report read_again(const Report& report) { return read_report(json_text(report), "run.json"); }

}  // namespace

TEST_CASE("the report of a run follows from its recording, byte by byte") {
  for (const Recorded& run : runs()) {
    CAPTURE(run.name);
    for (const Report& report : reports_of(run)) {
      const std::string written = json_text(report);
      const Report again = reanalyse(read_report(written, "run.json"));
      CHECK(json_text(again) == written);
    }
  }
}

TEST_CASE("the tables of rounds follow from the blocks") {
  for (const Recorded& run : runs()) {
    CAPTURE(run.name);
    for (const Report& report : reports_of(run)) {
      const Measurements& measured = *report.recording;
      const auto recording = read_again(report).recording;
      const Measurements& read = *recording;
      CHECK(read.verdict.table == measured.verdict.table);
      CHECK(read.explain.arms == measured.explain.arms);
      CHECK(read.verify.table == measured.verify.table);
      REQUIRE(read.explain.caches.has_value() == measured.explain.caches.has_value());
      if (read.explain.caches) CHECK(read.explain.caches->table == measured.explain.caches->table);
    }
  }
}

TEST_CASE("a recording answers other questions") {
  const Report read = read_again(recording());
  REQUIRE(read.verdict.kind == VerdictKind::drop);
  const double drop = *read.verdict.drop.value;
  const Report strict = reanalyse(read, {.min_drop = std::min(0.9, drop + 0.1)});
  CHECK(strict.verdict.kind != VerdictKind::drop);
  CHECK(strict.settings.min_drop > drop);
  const Report quick = reanalyse(read, {.confidence = 0.9});
  REQUIRE(quick.verdict.drop.interval.has_value());
  CHECK(quick.verdict.drop.interval->high <= read.verdict.drop.interval->high);
  CHECK(quick.timing.wall_seconds == read.timing.wall_seconds);
  const Report priced = reanalyse(read, {.cost_per_hour = 10, .what_ifs = {"crop=free"}});
  REQUIRE(priced.cost.has_value());
  CHECK(priced.cost->per_hour == 10);
  REQUIRE(priced.what_ifs.size() == 1);
  CHECK(priced.what_ifs[0].predicted.value.has_value());
}

TEST_CASE("what a recording cannot answer is refused") {
  Report read = read_again(recording());
  CHECK(has(usage_error([&] { (void)reanalyse(read, {.confidence = 2}); }), "confidence"));
  CHECK(has(usage_error([&] { (void)reanalyse(read, {.min_drop = 0}); }), "min_drop"));
  CHECK_FALSE(usage_error([&] { (void)reanalyse(read, {.what_ifs = {"hat=4"}}); }).empty());
  read.recording.reset();
  CHECK(has(usage_error([&] { (void)reanalyse(read); }), "has no recording"));
}

TEST_CASE("what ended a run before its verdict is kept") {
  Report failed = recording();
  failed.interrupted = true;
  failed.warnings.push_back({"run_failed", "the run ended early: it broke", "", {"line 1"}});
  const Report again = reanalyse(read_again(failed));
  REQUIRE_FALSE(again.warnings.empty());
  CHECK(again.warnings.back().code == "run_failed");
}

TEST_CASE("no damaged recording crashes the reader or the analysis") {
  const json good = json::parse(json_text(recording()));
  const std::vector<json> values{nullptr, true,           -1,     1e300, "text", json::array(),
                                 0,       json::object(), {1, 2}, 7};
  std::vector<std::string> pointers;
  const json leaves = good.flatten();
  for (const auto& [pointer, unused] : leaves.items()) pointers.push_back(pointer);
  RandomStream random({.seed = 1, .stage = hash_name("recording")});
  for (std::uint64_t i = 0; i < fuzz_cases(kIsSanitized ? 300 : 1500); ++i) {
    json report = good;
    const std::string& pointer = pointers[random.below(pointers.size())];
    const json& value = values[random.below(values.size())];
    CAPTURE(pointer);
    CAPTURE(value);
    report[json::json_pointer(pointer)] = value;
    (void)usage_error([&] { (void)reanalyse(read_report(report.dump(), "run.json")); });
  }
}

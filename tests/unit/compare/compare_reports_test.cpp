#include "cachebisect/compare/compare_reports.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "support/errors.hpp"
#include "support/json_schema.hpp"
#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/compare/gate.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// read, crop (`crop_us`), flip, in front of a step of 1 ms for 8 samples, in virtual time.
Report bisected(double crop_us, std::uint64_t seed, double noise = 0.005) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 10e-6},
                  {.name = "crop", .category = Category::augment, .seconds = crop_us * 1e-6},
                  {.name = "flip", .category = Category::augment, .seconds = 20e-6}};
  SimulatedReplayer replayer(chain, {.seed = seed, .noise = {.white_cv = noise}});
  BisectOptions options;
  options.seed = seed;
  options.budget_seconds = 20;
  options.sustain_seconds = 0;
  Report report = bisect(replayer, options);
  report.warnings.clear();
  return report;
}

const ComparedFigure& figure(const Comparison& comparison, const std::string& id) {
  const auto found = std::ranges::find(comparison.figures, id, &ComparedFigure::id);
  REQUIRE(found != comparison.figures.end());
  return *found;
}

Comparison compared(const Report& a, const Report& b, const CompareOptions& options = {}) {
  return compare({&a, "a.json"}, {&b, "b.json"}, options);
}

GateOutcome outcome(const Report& a, const Report& b, const std::string& gate) {
  return compared(a, b, {.gates = {gate}}).gates.at(0).outcome;
}

}  // namespace

TEST_CASE("a stage that takes longer is found, with intervals that hold what was planted") {
  const Report a = bisected(600, 1);
  const Report b = bisected(720, 2);
  const Comparison result = compared(a, b);
  const ComparedFigure& live = figure(result, "live");
  CHECK(live.kind() == ChangeKind::lower);
  // Two workers: 630 and 750 us per sample, halved.
  CHECK(live.change.interval->low < 630.0 / 750 - 1);
  CHECK(live.change.interval->high > 630.0 / 750 - 1);
  CHECK(figure(result, "ceiling").kind() == ChangeKind::none);
  CHECK(figure(result, "stages.crop.seconds").kind() == ChangeKind::higher);
  CHECK(figure(result, "stages.flip.seconds").kind() != ChangeKind::higher);
  CHECK(std::ranges::any_of(result.findings, [](const std::string& finding) {
    return has(finding, "live fell by 16%");
  }));
  CHECK(std::ranges::any_of(result.findings, [](const std::string& finding) {
    return has(finding, "crop's time per sample rose by");
  }));
}

TEST_CASE("a report against another of the same job shows no difference") {
  const Comparison result = compared(bisected(600, 3), bisected(600, 4));
  for (const ComparedFigure& f : result.figures) {
    CAPTURE(f.id);
    if (f.change.interval) CHECK(f.kind() == ChangeKind::none);
  }
  CHECK(has(result.findings.at(0), "no certain difference in live"));
}

TEST_CASE("a gate fires, passes or is undecided by the whole interval") {
  const Report a = bisected(600, 5);
  const Report b = bisected(720, 6);
  CHECK(outcome(a, b, "live<-5%") == GateOutcome::fired);
  CHECK(outcome(a, b, "live < -5 %") == GateOutcome::fired);
  CHECK(outcome(a, b, "live<-30%") == GateOutcome::passed);
  CHECK(outcome(a, b, "live<-16%") == GateOutcome::undecided);
  CHECK(outcome(a, b, "stages.crop.seconds>+5%") == GateOutcome::fired);
  CHECK(outcome(b, a, "stages.crop.seconds>+5%") == GateOutcome::passed);
  CHECK(outcome(a, b, "loss>+2%") == GateOutcome::fired);
  CHECK(compared(a, b, {.gates = {"live<-30%", "live<-5%"}}).fails());
  CHECK_FALSE(compared(a, b, {.gates = {"live<-30%"}}).fails());
}

TEST_CASE("a gate that would fire is undecided while a report warns of noise") {
  const Report a = bisected(600, 5);
  Report b = bisected(720, 6);
  b.warnings.push_back({"other_load", "", "", {}});
  const Comparison noisy = compared(a, b, {.gates = {"live<-5%", "live<-30%"}});
  CHECK(noisy.gates[0].outcome == GateOutcome::undecided);
  CHECK(has(noisy.gates[0].reason, "not steady (B: other_load)"));
  CHECK(noisy.gates[1].outcome == GateOutcome::passed);
  CHECK_FALSE(noisy.fails());
}

TEST_CASE("what is no gate is refused with an example") {
  for (const char* const text : {"", "live", "live<", "live<5", "<5%", "live<5%%", "live<nan%"}) {
    CAPTURE(text);
    CHECK(has(usage_error([&] { (void)parse_gate(text); }), "live<-5%"));
  }
  const Report a = bisected(600, 7);
  const auto unknown =
      usage_error([&] { (void)compared(a, a, {.gates = {"stages.corp.drop>5%"}}); });
  CHECK(has(unknown, "did you mean \"stages.crop.drop\""));
  Report empty;
  CHECK(compared(empty, empty, {.gates = {"live<-5%"}}).gates[0].outcome == GateOutcome::undecided);
}

TEST_CASE("reports that are not comparable are refused, unless it is forced") {
  const Report a = bisected(600, 8);
  Report b = a;
  b.chain.batch_size = 16;
  b.chain.device_name = "other\x1b";
  b.settings.confidence = 0.9;
  const std::string refusal = usage_error([&] { (void)compared(a, b); });
  CHECK(has(refusal, "batch size: 8 in A, 16 in B"));
  CHECK(has(refusal, "other\\x1b in B"));
  CHECK(has(refusal, "confidence: 0.99 in A, 0.9 in B"));
  const Comparison forced = compared(a, b, {.force = true});
  CHECK(forced.mismatches.size() == 3);
  CHECK(has(to_text(forced), "not comparable, but forced: batch size"));
}

TEST_CASE("stages that only one of the two has are named") {
  const Report a = bisected(600, 9);
  Report b = a;
  b.stages[1].name = "resize";
  b.stages[1].type = "augment.resize";
  const Comparison result = compared(a, b);
  CHECK(std::ranges::count(result.notes, "stage crop is in A alone") == 1);
  CHECK(std::ranges::count(result.notes, "stage resize is in B alone") == 1);
}

TEST_CASE("a stage that was renamed is compared with the only other one of its type, and noted") {
  Report a = bisected(600, 1);
  Report b = bisected(720, 2);
  a.stages[1].type = b.stages[1].type = "map.custom";
  b.stages[1].name = "crop faster";
  const Comparison result = compared(a, b, {.gates = {"stages.crop.seconds>+5%"}});
  CHECK(figure(result, "stages.crop.seconds").kind() == ChangeKind::higher);
  CHECK(result.gates.at(0).outcome == GateOutcome::fired);
  CHECK(std::ranges::count(result.notes,
                           "'crop' of A is compared with 'crop faster' of B, the only other stage "
                           "of its kind") == 1);
  CHECK_FALSE(std::ranges::any_of(result.notes,
                                  [](const std::string& note) { return has(note, "alone"); }));
}

TEST_CASE("no name breaks a table, a terminal or the JSON") {
  Report a = bisected(600, 10);
  const std::string hostile = "a|b`<script>\n\x1b[31m&" + std::string(10000, 'n') + "\xff";
  a.chain.name = hostile;
  a.chain.device_name = hostile;
  a.stages[1].name = hostile;
  const Comparison result = compare({&a, hostile}, {&a, hostile}, {});
  const std::string text = to_text(result);
  CHECK(text.find('\x1b') == std::string::npos);
  const std::string markdown = to_markdown(result);
  CHECK_FALSE(has(markdown, "<script>"));
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) continue;
    std::size_t cells = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      cells += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    CHECK(cells == 6);
  }
  std::ostringstream out;
  write_json(result, out);
  CHECK(json::parse(out.str())["figures"][0]["id"] == "live");
}

TEST_CASE("a comparison fits the terminal, and says the same with colours") {
  Comparison result = compared(bisected(600, 11), bisected(720, 12), {.gates = {"live<-5%"}});
  result.findings.push_back(
      "one sentence that is longer than a terminal of 80 columns, and longer than one of 120 "
      "columns too, so that it takes several lines on either of them");
  CHECK(widest_line(to_text(result)) <= 80);
  const std::string wide = to_text(result, {.columns = 120});
  CHECK(widest_line(wide) <= 120);
  CHECK(widest_line(wide) > 80);
  const std::string colored = to_text(result, {.color = true});
  CHECK(has(colored, "\x1b["));
  CHECK(without_colors(colored) == to_text(result));
}

TEST_CASE("Markdown begins with the findings and has the table of the text") {
  Comparison result = compared(bisected(600, 13), bisected(720, 14), {.gates = {"live<-5%"}});
  result.findings = {"live is lower"};
  result.notes = {"the machines differ"};
  const std::string markdown = to_markdown(result);
  CHECK(
      markdown.starts_with("### cachebisect compare\n\n- **Live is lower.**\n- gate live\\<-5%: "));
  CHECK(has(markdown, "\n|  | A | B | change | 99% interval |\n|---|--:|--:|--:|---|\n| live | "));
  CHECK(has(markdown, "\n- **note**: the machines differ\n"));
  CHECK(has(to_text(result), "\nLive is lower.\nnote: the machines differ\ngate live<-5%: "));
}

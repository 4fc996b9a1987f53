// What --explain says of reports of every kind.
#include <sstream>
#include <string>

#include "golden/sample_report.hpp"
#include "support/golden.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/format/document/render.hpp"
#include "cachebisect/report/words/report_document.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/report/writers/formats.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string explained(const Report& report, int columns = 80) {
  Document all;
  all.section("What the numbers mean", explained_document(report));
  std::string text = to_text(all, {.columns = columns});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= static_cast<std::size_t>(columns));
  }
  return text;
}

/// One line, for searches across line ends.
std::string flowing(std::string text) {
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    text.replace(at, 3, " ");
  }
  return text;
}

}  // namespace

TEST_CASE("the explanation of a certified drop is the golden one, and follows the report") {
  Report report = sample_report();
  report.cost = Cost{98, scaled(report.loss.total, 98)};
  const std::string text = explained(report);
  check_golden("explain_drop.txt", text);
  CHECK(to_text(report, {.explain = true}) == to_text(report) + "\n" + text);
}

TEST_CASE("every figure of the explanation is the report's own") {
  Report report = sample_report();
  report.ceiling = estimate(4321, 4300, 4340);
  report.verdict.detectable_drop = 0.17;
  report.machine.noise.block_cv = 0.083;
  report.cache.samples = 8192;
  report.settings.confidence = 0.9;
  const std::string text = flowing(explained(report));
  for (const char* const figure :
       {"ceiling: 4,321 (4,300 to 4,340)", "1,000 of 4,321 samples/s are left",
        "detectable drop: 17%", "noise: 8.3%", "cache: 8,192 samples", "confidence: 90%",
        "at most 10%"}) {
    CAPTURE(figure);
    CHECK(has(text, figure));
  }
}

TEST_CASE("an inconclusive verdict is explained with what it needs") {
  Report report = sample_report();
  report.verdict = Verdict{};
  report.verdict.rounds = 3;
  report.verdict.needed = Needed{40, 25.2};
  report.loss.starvation = report.loss.contention = {};
  for (StageReport& stage : report.stages) stage.payoff = {};
  const std::string text = flowing(explained(report));
  CHECK(has(text, "verdict: inconclusive"));
  CHECK(has(text, "About 40 rounds, 26 s of measuring, would tell."));
  CHECK_FALSE(has(text, "drop of"));
  CHECK_FALSE(has(text, "payoff of"));
  CHECK(has(text, "Not measured: starvation"));
}

TEST_CASE("a flat verdict is explained as such") {
  Report report = sample_report();
  report.verdict = Verdict{};
  report.verdict.kind = VerdictKind::flat;
  report.verdict.rounds = 12;
  report.loss = {.total = estimate(0.01, -0.002, 0.02)};
  const std::string text = flowing(explained(report));
  CHECK(has(text, "certainly costs less than 5.0% (--min-drop)"));
  CHECK(has(text, "lost: 1.0% (-0.2 to 2.0%)"));
}

TEST_CASE("a report of nothing says that nothing is known") {
  Report report;
  report.interrupted = true;
  const std::string text = flowing(explained(report));
  CHECK(has(text, "The run was stopped early"));
  CHECK(has(text, "No loss is given"));
  for (const char* const absent : {"ceiling:", "live:", "lost:", "noise:", "cache:", "rounds:"}) {
    CHECK_FALSE(has(text, absent));
  }
}

TEST_CASE("the explanation keeps to other widths") {
  explained(sample_report(), 60);
  explained(sample_report(), 120);
}

TEST_CASE("no text of an adapter is an escape sequence in the explanation") {
  Report report = sample_report();
  report.cache.limited_by = "\x1b[2J";
  CHECK(has(explained(report), "\\x1b[2J"));
  CHECK_FALSE(has(explained(report), "\x1b"));
}

TEST_CASE("the page of Markdown explains the same numbers on request, with markup escaped") {
  Report report = sample_report();
  CHECK_FALSE(has(to_markdown(report), "What the numbers mean"));
  const std::string page = to_markdown(report, {.explain = true});
  const std::size_t section = page.find("\n### What the numbers mean\n\n- **verdict: ");
  REQUIRE(section != std::string::npos);
  CHECK(has(page.substr(section), "\n- **ceiling: 2,500 (2,475 to 2,525) samples/s**: "));
  CHECK(section < page.find("\n### What was run\n"));
  report.verdict.stage = report.stages[1].name = "<b>*x*";
  CHECK(has(to_markdown(report, {.explain = true}), "\\<b\\>\\*x\\*"));
}

TEST_CASE("--explain is in the files that people read, and in no other") {
  for (const ReportFormat& format : report_formats()) {
    CAPTURE(format.file);
    const bool read_by_people = format.file == "report.txt" || format.file == "report.md";
    const bool longer = format.write(sample_report(), {.explain = true}).size() >
                        format.write(sample_report()).size();
    CHECK(longer == read_by_people);
  }
}

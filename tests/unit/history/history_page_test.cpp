// The page of a history: what it shows and leaves out. How a browser shows it: tests/browser.
#include <regex>
#include <string>

#include "golden/history_runs.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/history/history.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxBytes = 600'000;

std::string page_of(const std::string& lines, const HistorySelection& selection = {}) {
  return history_html(read_history(lines, "h"), selection);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// What the first chart draws; null in a build without charts.
json drawn(const std::string& page) {
  const std::string start = "<script type=\"application/json\">";
  const std::size_t at = page.find(start);
  if (at == std::string::npos) return {};
  const std::size_t from = at + start.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("the page of a history has each run as text, and the trend") {
  const std::string page = page_of(slowing_runs(4));
  CHECK(has(page, "photos: device emulated, batch 64, 4 runs"));
  CHECK(
      has(page, "Live, last run against the one before: -12%; against the first one shown: -30%"));
  CHECK(has(page,
            "<th scope=\"row\" class=\"left\">2026-01-10 03:04</th>"
            "<td class=\"right\">2,000 (1,980 - 2,020)</td>"
            "<td class=\"right\">2,500 (2,475 - 2,525)</td>"));
  CHECK(has(page, "drop read 59%"));
  CHECK(has(page, "default-src 'none'"));
  CHECK_FALSE(has(page, "id=\"problems\""));
}

TEST_CASE("the chart has the figures of the table, and marks where the verdict changed") {
  const json runs = drawn(page_of(slowing_runs(4)));
  if (runs.is_null()) return;
  REQUIRE(runs.size() == 4);
  CHECK(runs[0]["live"]["value"] == 2000);
  CHECK(runs[3]["live"]["low"] == doctest::Approx(1386));
  CHECK(runs[0]["change"] == "drop read");
  CHECK(runs[1]["change"].is_null());
  CHECK(runs[2]["change"] == "drop decode");
  CHECK(runs[3]["change"].is_null());
}

TEST_CASE("a figure without an interval is neither shown nor drawn") {
  Report report = run_of("2026-01-10T03:04:05Z", 987);
  report.live.interval.reset();
  const std::string page = page_of(history_line(report));
  CHECK(has(page, "too few rounds"));
  CHECK_FALSE(has(page, "987"));
  const json runs = drawn(page);
  if (!runs.is_null()) CHECK(runs[0]["live"]["value"].is_null());
}

TEST_CASE("each job has a section; the selection holds for the page too") {
  Report other = run_of("2026-01-04T00:00:00Z", 100);
  other.chain.name = "words";
  const std::string lines = slowing_runs(3) + history_line(other);
  CHECK(count(page_of(lines), "<section") == 2);
  const std::string words = page_of(lines, {.pipeline = "words"});
  CHECK(has(words, "<title>words - cachebisect history</title>"));
  CHECK_FALSE(has(words, "photos"));
  CHECK(has(page_of(lines, {.last = 2}), "photos: device emulated, batch 64, 2 runs"));
  CHECK(has(page_of(""), "No runs."));
}

TEST_CASE("lines that were left out are named") {
  const std::string page = page_of(slowing_runs(1) + "{<b>\n");
  CHECK(has(page, "h:2:1:"));
  CHECK_FALSE(has(page, "<b>"));
  std::string damaged;
  for (int line = 0; line < 30; ++line) damaged += "[]\n";
  CHECK(has(page_of(damaged), "10 more lines"));
}

TEST_CASE("names in a history inject nothing into the page") {
  const std::string plain = page_of(slowing_runs(2));
  const std::string page = page_of(hostile_runs(2));
  CHECK(count(page, "<script") == count(plain, "<script"));
  CHECK(count(page, "</script") == count(plain, "</script"));
  CHECK_FALSE(has(page, "<img"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK_FALSE(has(page, "\xff"));
}

TEST_CASE("a character that is cut in two is still shown") {
  const std::string page = page_of(history_line(run_of("2026-01-10T03:0\u20ac", 1000)));
  CHECK(has(page, "2026-01-10 03:0"));
  const json runs = drawn(page);
  if (!runs.is_null()) CHECK(runs[0]["label"].get<std::string>().starts_with("2026-01-10 03:0"));
}

TEST_CASE("the page of a long history stays small, and says what it leaves out") {
  const std::string page = page_of(slowing_runs(1000));
  CHECK(page.size() <= kMaxBytes);
  CHECK(has(page, "photos: device emulated, batch 64, 400 runs"));
  CHECK(has(page, "The last 400 runs of 1000; all would make the page too large."));
  const std::string hostile = page_of(hostile_runs(1000));
  CHECK(hostile.size() <= kMaxBytes);
  CHECK(has(hostile, "all would make the page too large."));
}

TEST_CASE("the page of many jobs stays small, and says how many are missing") {
  std::string lines;
  for (int job = 0; job < 500; ++job) {
    Report report = hostile_page_report();
    report.chain.name = "job" + std::to_string(job);
    lines += history_line(report);
  }
  const std::string page = page_of(lines);
  CHECK(page.size() <= kMaxBytes);
  CHECK(has(page, "more jobs would make the page too large; --pipeline NAME shows one."));
}

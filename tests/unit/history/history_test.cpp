#include "cachebisect/history/history.hpp"

#include <string>

#include "golden/history_runs.hpp"
#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

std::string text_of(const std::string& lines, const HistorySelection& selection = {}) {
  return history_text(read_history(lines, "h").entries, selection);
}

}  // namespace

TEST_CASE("a run is one line of JSON, and is read as it was") {
  const std::string line = history_line(run_of("2026-01-02T03:04:05Z", 1000));
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(json::parse(line)["schema_version"] == 1);
  CHECK(json::parse(line)["warnings"] == json::array({"generated_data"}));
  const History history = read_history(line + line, "h.jsonl");
  REQUIRE(history.entries.size() == 2);
  CHECK(history.problems.empty());
  const HistoryEntry& entry = history.entries[1];
  CHECK(entry.started == "2026-01-02T03:04:05Z");
  CHECK(entry.pipeline == "photos");
  CHECK(entry.device_kind == DeviceKind::emulated);
  CHECK(entry.live.value == 1000);
  CHECK(entry.live.interval->low == 990);
  CHECK(entry.verdict == VerdictKind::drop);
  CHECK(entry.stage == "decode");
  CHECK(entry.warnings.at(0) == "generated_data");
}

TEST_CASE("a damaged line is named and left out, the others stay") {
  const std::string good = history_line(run_of("2026-01-02T03:04:05Z", 1000));
  json future = json::parse(good);
  future["schema_version"] = 2;
  const std::string lines = good + good.substr(0, 40) + "\n\n" + future.dump() + "\n[]\n" +
                            std::string((1U << 20U) + 1, 'x') + "\n" + good;
  const History history = read_history(lines, "h.jsonl");
  CHECK(history.entries.size() == 2);
  REQUIRE(history.problems.size() == 4);
  CHECK(has(history.problems[0], "h.jsonl:2:1:41: not JSON"));
  CHECK(history.problems[1] ==
        "h.jsonl:4: /schema_version: is 2; this cachebisect reads version 1");
  CHECK(history.problems[2] == "h.jsonl:5: the document: must be an object");
  CHECK(has(history.problems[3], "h.jsonl:6: larger than 1 MiB"));
}

TEST_CASE("the trend shows each job by itself, and differences that the intervals allow") {
  std::string lines = history_line(run_of("2026-01-01T00:00:00Z", 1000)) +
                      history_line(run_of("2026-01-02T00:00:00Z", 500)) +
                      history_line(run_of("2026-01-03T00:00:00Z", 505));
  const std::string text = text_of(lines);
  CHECK(has(text, "photos: device emulated, batch 64, 3 runs"));
  CHECK(has(text, "2026-01-01 00:00   1,000  ############      2,500  drop decode 59%"));
  CHECK(has(text, "2026-01-02 00:00     500  ######            2,500"));
  CHECK(has(text, "live, last run against the one before: ~ (their intervals overlap); against"));
  CHECK(has(text, "-50%"));
  Report other = run_of("2026-01-04T00:00:00Z", 100);
  other.chain.name = "words";
  lines += history_line(other);
  CHECK(has(text_of(lines), "words: device emulated, batch 64, 1 run\n"));
  CHECK_FALSE(has(text_of(lines, {.pipeline = "words"}), "photos"));
  const std::string last = text_of(lines, {.last = 1});
  CHECK_FALSE(has(last, "2026-01-02"));
  CHECK(has(last, "2026-01-03"));
  CHECK(text_of("") == "no runs\n");
}

TEST_CASE("a history has the width, the bars and the colours of the terminal") {
  const std::string lines = history_line(run_of("2026-01-01T00:00:00Z", 1000)) +
                            history_line(run_of("2026-01-02T00:00:00Z", 510));
  const auto entries = read_history(lines, "h").entries;
  const auto shown = [&](const TextOptions& options) { return history_text(entries, {}, options); };
  const std::string wide = shown({.columns = 120});
  CHECK(has(wide, std::string(32, '#')));
  CHECK_FALSE(has(wide, std::string(33, '#')));
  CHECK(widest_line(wide) > widest_line(shown({.columns = 80})));
  for (const int columns : {60, 70, 80, 100, 120, 200}) {
    CAPTURE(columns);
    CHECK(widest_line(shown({.columns = columns})) <= static_cast<std::size_t>(columns));
  }
  const std::string marks = shown({.unicode = true});
  CHECK(has(marks, "████████████"));
  CHECK(has(marks, "██████▏"));
  CHECK_FALSE(has(marks, "#"));
  const std::string colored = shown({.color = true});
  CHECK(has(colored, "\x1b["));
  CHECK(without_colors(colored) == shown({}));
}

TEST_CASE("no name in a history breaks its table or reaches the terminal as a command") {
  Report report = run_of("2026-01-01T00:00:00Z\x1b[31m", 1000);
  report.chain.name = "a\n\x1b]0;b\xff" + std::string(10000, 'n');
  report.verdict.stage = std::string(10000, '|') + "\r";
  const std::string text = text_of(history_line(report));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(widest_line(text) <= 80);
}

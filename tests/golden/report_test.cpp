#include <sstream>
#include <string>

#include "golden/sample_report.hpp"
#include "support/golden.hpp"
#include "support/json_schema.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

std::string json_text(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

/// The line that begins so, without the newline; empty if there is none.
std::string line_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("the terminal report of a certified drop is the golden one") {
  check_golden("drop.txt", to_text(sample_report()));
}

TEST_CASE("colour adds escape sequences and nothing else") {
  std::string colored = to_text(sample_report(), {.color = true});
  CHECK(colored.find('\x1b') != std::string::npos);
  for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == to_text(sample_report()));
}

TEST_CASE("a row without an interval stays out, and the next one joins its stages") {
  Report report = sample_report();
  report.boundaries[2].samples_per_second = {};
  const std::string text = to_text(report);
  CHECK(line_of(text, "+ collate").empty());
  CHECK(line_of(text, "+ decode, collate").find("59%") != std::string::npos);
}

TEST_CASE("no figure is shown of live and ceiling without intervals") {
  Report report = sample_report();
  report.boundaries.front().samples_per_second.interval.reset();
  const std::string live = line_of(to_text(report), "+ read = live");
  CHECK(live.find("too few rounds") != std::string::npos);
  CHECK(live.find('%') == std::string::npos);
}

TEST_CASE("a row that is not certainly faster than the ceiling is shown as at most 100% of it") {
  Report report = sample_report();
  report.boundaries[3].samples_per_second = estimate(2600, 2450, 2700);
  CHECK(line_of(to_text(report), "+ copy") ==
        "+ copy                    2,500  2,450 - 2,700        100%         0%");
  report.boundaries[3].samples_per_second = estimate(2600, 2550, 2700);
  CHECK(line_of(to_text(report), "+ copy").find("104%") != std::string::npos);
}

TEST_CASE("the JSON report of a certified drop is valid against the published schema") {
  const json report = json::parse(json_text(sample_report()));
  CHECK(JsonSchema(report_schema()).refusal(report) == "");
  CHECK(report["verdict"]["stage"] == "decode");
  CHECK(report["stages"][1]["drop"].get<double>() == doctest::Approx(1 - 1010 / 2480.0));
  CHECK(report["what_ifs"][0]["predicted"]["samples_per_second"] == 1980);
  CHECK(report["what_ifs"][1]["predicted"]["samples_per_second"].is_null());
  CHECK(report["loss"]["starvation"] == 0.55);
  CHECK(report["stages"][1]["payoff"]["samples_per_second"] == 2400);
  CHECK(report["stages"][1]["replayed_busy_ratio"]["value"] == 0.998);
  CHECK(report["stages"][1]["replayed_busy_ratio"]["interval"] == json::array({0.99, 1.01}));
  CHECK(report["stages"][0]["replayed_busy_ratio"].is_null());
  CHECK(report["live"]["starved_share"] == 0.58);
  CHECK(report["next"]["stage"] == "training step");
  CHECK(report["blocks"][0]["overrides"] == json::object());
  CHECK(report["blocks"][1]["overrides"]["/workers"] == 4);
  CHECK(report["blocks"][1]["overrides"]["/train/precision"] == "bf16");
  CHECK(report["blocks"][1]["ready_batches"] == 1.5);
  CHECK(report["stages"][0]["payoff"]["samples_per_second"].is_null());
}

TEST_CASE("an empty report is valid, and its figures are null") {
  const json report = json::parse(json_text(Report{}));
  json with_names = report;
  with_names["device"]["kind"] = "cpu";
  CHECK(JsonSchema(report_schema()).refusal(with_names) == "");
  CHECK(report["ceiling"]["samples_per_second"].is_null());
  CHECK(report["loss"]["starvation"].is_null());
  CHECK(report["live"]["ready_batches"].is_null());
  CHECK(report["next"].is_null());
}

TEST_CASE("the JSON report shows the loader, how workers were chosen, and the physical cores") {
  Report report = sample_report();
  CHECK(json::parse(json_text(report))["pipeline"]["worker_search"].is_null());
  CHECK(json::parse(json_text(report))["pipeline"]["loader"] == "sample");
  CHECK(json::parse(json_text(report))["machine"]["usable_cores"].is_null());
  report.chain.loader = LoaderKind::batch;
  report.chain.worker_search =
      WorkerSearch{{{1, 500, {490, 505}}, {2, 510, {500, 512}}}, false, "memory"};
  report.machine.usable_cores = 4;
  report.machine.numa_nodes = 2;
  const json document = json::parse(json_text(report));
  CHECK(JsonSchema(report_schema()).refusal(document) == "");
  CHECK(document["pipeline"]["loader"] == "batch");
  const json& search = document["pipeline"]["worker_search"];
  CHECK(search["trials"][1]["workers"] == 2);
  CHECK(search["trials"][1]["samples_per_second"] == 510);
  CHECK(search["trials"][0]["interval"] == json::array({490, 505}));
  CHECK(search["certain"] == false);
  CHECK(search["limited_by"] == "memory");
  CHECK(document["machine"]["usable_cores"] == 4);
  CHECK(document["machine"]["numa_nodes"] == 2);
  CHECK(to_text(report).find("2 workers (auto), a batch each") != std::string::npos);
}

TEST_CASE("numbers that are not finite become null") {
  Report report = sample_report();
  report.ceiling.value = std::numeric_limits<double>::infinity();
  report.loss.total.interval = Interval{std::nan(""), 1};
  const json document = json::parse(json_text(report));
  CHECK(document["ceiling"]["samples_per_second"].is_null());
  CHECK(document["loss"]["interval"][0].is_null());
}

TEST_CASE("the schema refuses a report without its verdict") {
  json report = json::parse(json_text(sample_report()));
  report.erase("verdict");
  CHECK(JsonSchema(report_schema()).refusal(report) != "");
}

TEST_CASE("the published schema is the one the tool prints") {
  CHECK(report_schema() == read_file(CACHEBISECT_SOURCE_DIR "/docs/schema/report.schema.json"));
}

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "golden/sample_report.hpp"
#include "support/golden.hpp"
#include "support/json_schema.hpp"
#include "support/report_json.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// The line that begins so, without the newline; empty if there is none.
std::string line_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

/// `path`: as "blocks[].device".
bool is_in_schema(json schema, const std::string& path) {
  std::istringstream names(path);
  for (std::string name; std::getline(names, name, '.');) {
    const bool is_list = name.ends_with("[]");
    if (is_list) name.resize(name.size() - 2);
    json field = schema.value("properties", json::object()).value(name, json());
    if (field.is_null()) return false;
    schema = is_list ? field.value("items", json::object()) : std::move(field);
  }
  return true;
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

TEST_CASE("the report fits every width, in both charsets, whatever the names are") {
  Report report = sample_report();
  report.stages[1].name = report.chain.stages[1].name = report.verdict.stage =
      report.verdict.fix_first = "日本語の段階" + std::string(10000, 'x');
  report.chain.name = std::string(500, 'n');
  report.chain.file = "/data/" + std::string(300, 'f') + ".json";
  report.stages[3].copy_share = 0.35;
  report.boundaries[3].samples_per_second = estimate(1200, 1190, 1210);
  report.remedies[0].flags = {"--set stages." + std::string(200, 's') + "=1"};
  report.warnings[0].details = {std::string(200, 'd')};
  report.cost = Cost{98, scaled(report.loss.total, 98)};
  for (const int columns : {80, 120, 200}) {
    for (const bool unicode : {false, true}) {
      CAPTURE(columns);
      CAPTURE(unicode);
      const std::string text =
          to_text(report, {.columns = columns, .unicode = unicode, .explain = true});
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        CHECK_MESSAGE(display_width(line) <= static_cast<std::size_t>(columns), line);
      }
    }
  }
}

TEST_CASE("bars shrink before the names of stages are clipped") {
  Report report = sample_report();
  for (BoundaryReport& boundary : report.boundaries) {
    const double rate = (boundary.index > 1 ? 10 : 1) * *boundary.samples_per_second.value;
    boundary.samples_per_second = estimate(rate, rate - 100.5, rate + 100.5);
  }
  report.ceiling = report.boundaries.back().samples_per_second;
  report.stages[1].name = "decode_by_libjpeg";
  const std::string text = to_text(report);
  CHECK(has(line_of(text, "step alone"), "step alone (ceiling)  "));
  CHECK(has(line_of(text, "+ decode_by_libjpeg "), "96%  #######"));
}

TEST_CASE("a wider terminal gets longer bars, and Unicode finer ones") {
  check_golden("drop_120_unicode.txt", to_text(sample_report(), {.columns = 120, .unicode = true}),
               120);
}

TEST_CASE("without Unicode the report of ASCII names is ASCII") {
  for (const char c : to_text(sample_report(), {.columns = 120, .explain = true})) {
    CHECK(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("the copy's row shows what the copy reaches of the pinned peak") {
  Report report = sample_report();
  report.stages[3].copy_gb_per_s = 8.75;
  report.stages[3].copy_share = 0.35;
  CHECK(has(line_of(to_text(report, {.columns = 120}), "+ copy"), "35% of 25 GB/s"));
  CHECK(has(to_text(report), "\n(The copy reaches 35% of 25 GB/s.)\n"));
  const json stage = json::parse(json_text(report))["stages"][3];
  CHECK(stage["copy_share"] == 0.35);
  CHECK(stage["copy_gb_per_s"] == 8.75);
}

TEST_CASE("what a device does by itself is in its blocks, and null where it is unknown") {
  Report report = sample_report();
  BlockRecord& block = report.blocks.emplace_back();
  block.result.device.sm_clock_mhz = 1755;
  block.result.device.throttling = Throttling{.power = true};
  report.blocks.emplace_back();
  report.chain.device_facts.driver_version = "580.65.06";
  report.chain.device_facts.mig_mode = false;
  report.chain.device_facts.environment = DeviceEnvironment{.launch_blocking = "1"};
  const json written = json::parse(json_text(report));
  CHECK(JsonSchema(report_schema()).refusal(written) == "");
  const json& blocks = written["blocks"];
  CHECK(blocks[blocks.size() - 2]["device"]["sm_clock_mhz"] == 1755);
  CHECK(blocks[blocks.size() - 2]["device"]["throttled_by"] == json::array({"power"}));
  CHECK(blocks[blocks.size() - 2]["device"]["power_watts"].is_null());
  CHECK(blocks.back()["device"].is_null());
  CHECK(written["device"]["driver_version"] == "580.65.06");
  CHECK(written["device"]["mig"] == false);
  CHECK(written["device"]["persistence_mode"].is_null());
  CHECK(written["device"]["environment"]["cuda_launch_blocking"] == "1");
  CHECK(written["device"]["environment"]["profiler"].is_null());
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

TEST_CASE("the cost of the loss stands under the verdict and in the JSON") {
  Report report = sample_report();
  CHECK_FALSE(has(to_text(report), "$"));
  CHECK(json::parse(json_text(report))["cost"].is_null());
  report.loss.total = estimate(0.75, 0.74, 0.76);
  report.cost = Cost{98, scaled(report.loss.total, 98)};
  CHECK(has(to_text(report),
            "live pipeline gives 1,000.\nThe 75% lost costs $74 of every $98 ($73 to $74).\n"));
  const json written = json::parse(json_text(report));
  CHECK(JsonSchema(report_schema()).refusal(written) == "");
  CHECK(written["cost"] ==
        json{{"per_hour", 98.0}, {"lost_per_hour", 73.5}, {"interval", {0.74 * 98, 0.76 * 98}}});
}

TEST_CASE("the cost of an uncertain loss is at most its interval's end, and of no loss unsaid") {
  Report report = sample_report();
  report.cost = Cost{98, estimate(58.8, 57.8, 59.8)};
  report.verdict.kind = VerdictKind::inconclusive;
  CHECK(has(to_text(report), "\nThe loss costs at most $60 of every $98.\n"));
  report.verdict.kind = VerdictKind::flat;
  report.cost->lost_per_hour = estimate(0.98, -1, 2.94);
  CHECK(has(to_text(report), "\nThe loss costs at most $2.94 of every $98.\n"));
  report.cost->lost_per_hour.interval.reset();
  CHECK_FALSE(has(to_text(report), "$"));
  report.cost->lost_per_hour = {};
  CHECK_FALSE(has(to_text(report), "$"));
  CHECK(json::parse(json_text(report))["cost"]["lost_per_hour"].is_null());
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

TEST_CASE("the page on reports has a row for each part of the schema, and for nothing else") {
  const json schema = json::parse(report_schema());
  const std::string page = read_file(CACHEBISECT_SOURCE_DIR "/docs/use/report.md");
  std::istringstream rows(page.substr(page.find("| part | what it holds |")));
  std::set<std::string> parts;
  for (std::string row; std::getline(rows, row) && row.starts_with("|");) {
    std::istringstream cell(row.substr(0, row.find(" |", 1)));
    for (std::string name; std::getline(cell, name, '`') && std::getline(cell, name, '`');) {
      CAPTURE(name);
      CHECK(is_in_schema(schema, name));
      parts.insert(name);
    }
  }
  for (const auto& [part, description] : schema.at("properties").items()) {
    CAPTURE(part);
    CHECK(parts.contains(part));
  }
}

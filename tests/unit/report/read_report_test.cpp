#include "cachebisect/report/json/read_report.hpp"

#include <string>
#include <vector>

#include "golden/sample_report.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/report_json.hpp"
#include "support/sanitized.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// A report in which everything that can be written has a value.
Report report_with_all_parts() {
  Report report = sample_report();
  ChainDescription& chain = report.chain;
  chain.worker_search = WorkerSearch{{{1, 500, {490, 505}}}, false, "memory"};
  chain.batch_contents = BatchContents{3, 2, 1, 4096, 1024};
  chain.sending = SendingCost{2e-3, 5e-4};
  chain.cache_hit = CacheHit{5e-5, 4e-10, 1.75};
  chain.effective_json = R"({"name":"photos","seed":1})";
  chain.device_facts.pcie_width = 16;
  chain.device_facts.mig_mode = false;
  chain.device_facts.environment = DeviceEnvironment{.launch_blocking = "1"};
  report.live_sustained = SustainedReport{estimate(990, 980, 1000), 3};
  report.ranks = {{{0, 1}, estimate(1200, 1190, 1210)}, {{0, 4}, estimate(1300, 1290, 1310)}};
  report.verdict.needed = Needed{20, 31.5};
  report.verdict.ranks = RankRange{0, 4};
  report.chain.ranks = 8;
  report.chain.nodes = {{"gpu-01", {0, 4}}, {"gpu-02", {4, 4}}};
  report.cost = Cost{98, estimate(74, 70, 78)};
  report.skipped = 2;
  report.first_skipped = {"a.jpg: truncated"};
  report.warnings.push_back({"run_failed", "text", "", {"line 1", "line 2"}});
  BlockRecord& block = report.blocks.emplace_back();
  block.round = 3;
  block.arm = {
      .kind = ArmKind::live, .overrides = {{"/a", "\"4\""}, {"/b", "bf16"}}, .ranks = {4, 4}};
  block.result.device.throttling = Throttling{.power = true};
  block.result.device.sm_clock_mhz = 1755;
  return report;
}

std::string refusal(const json& report) {
  return usage_error([&] { (void)read_report(report.dump(), "a.json"); });
}

/// What reading ends with, after all that can be done with the result: "" or the message.
std::string outcome(const std::string& text) {
  return usage_error([&] {
    const Report report = read_report(text, "a.json");
    (void)to_text(report);
    (void)json_text(report);
  });
}

}  // namespace

TEST_CASE("a report is read as it was written") {
  for (const Report& report : {report_with_all_parts(), sample_report(), Report{}}) {
    const std::string written = json_text(report);
    CHECK(json::parse(json_text(read_report(written, "a.json"))) == json::parse(written));
  }
  CHECK(to_text(read_report(json_text(sample_report()), "a")).find("59%") != std::string::npos);
}

TEST_CASE("a span outside the chain is refused with its place") {
  Report report = sample_report();
  report.spans = {{.name = "stages 2-3 together", .first = 2, .last = 3, .drop = {0.5, {}}}};
  const std::string written = json_text(report);
  CHECK(json::parse(json_text(read_report(written, "a.json"))) == json::parse(written));
  report.spans[0].last = 5;
  CHECK(test::has(test::usage_error([&] { (void)read_report(json_text(report), "a.json"); }),
                  "/spans/0/last"));
}

TEST_CASE("the price of a loss that was not measured is read too") {
  Report report = sample_report();
  report.cost = Cost{98, {}};
  const Report read = read_report(json_text(report), "a.json");
  REQUIRE(read.cost.has_value());
  CHECK(read.cost->per_hour == 98);
  CHECK_FALSE(read.cost->lost_per_hour.value.has_value());
}

TEST_CASE("a report of another schema version, or of nothing, is refused") {
  json report = json::parse(json_text(sample_report()));
  report["schema_version"] = 2;
  CHECK(refusal(report) == "a.json: /schema_version: is 2; this cachebisect reads version 1");
  CHECK(has(refusal(json::object()), "a.json: /schema_version: is missing"));
  CHECK(has(refusal(json::array()), "a.json: the document: must be an object"));
  CHECK(has(outcome(""), "a.json: empty"));
}

TEST_CASE("what is wrong in a report is named by its place") {
  const json good = json::parse(json_text(report_with_all_parts()));
  const auto with = [&](const char* pointer, const json& value) {
    json report = good;
    report[json::json_pointer(pointer)] = value;
    return refusal(report);
  };
  CHECK(with("/blocks/1/seconds", "fast") == "a.json: /blocks/1/seconds: must be a number");
  CHECK(with("/blocks/1/seconds", -1) == "a.json: /blocks/1/seconds: must be 0 or more");
  CHECK(with("/blocks/0/boundary", 99) ==
        "a.json: /blocks/0/boundary: must be a whole number from 0 to 4");
  CHECK(with("/verdict/kind", "dorp") ==
        "a.json: /verdict/kind: must be one of anomaly, drop, spread, flat, inconclusive");
  CHECK(with("/live/interval", {2, 1}) ==
        "a.json: /live/interval: must be an interval: its first number is the smaller one");
  CHECK(with("/stages/1/index", 7) ==
        "a.json: /stages/1/index: must be a whole number from 2 to 2");
  CHECK(with("/stages", json::array()) ==
        "a.json: /boundaries: must have one entry more than /stages");
  CHECK(with("/pipeline/batch_size", 0).find("/pipeline/batch_size") != std::string::npos);
  CHECK(with("/cost/per_hour", 0) == "a.json: /cost/per_hour: must be greater than 0");
  json many = json::array();
  for (int i = 1; i <= 1001; ++i) many.push_back({{"index", i}, {"name", "s"}});
  CHECK(with("/stages", many) == "a.json: /stages: must have at most 1000 entries");
  CHECK(with("/settings/confidence", 1) ==
        "a.json: /settings/confidence: must be a share between 0 and 1");
}

TEST_CASE("unknown keys of newer versions are ignored") {
  json report = json::parse(json_text(sample_report()));
  report["colour"] = "blue";
  report["blocks"][0]["phase_of_the_moon"] = {{"full", true}};
  CHECK(refusal(report) == "");
}

TEST_CASE("a truncated report is refused with the place where it ends") {
  const std::string text = json_text(sample_report());
  for (std::size_t length = 0; length + 2 < text.size(); length += 97) {
    CAPTURE(length);
    CHECK(outcome(text.substr(0, length)).starts_with("a.json:"));
  }
}

TEST_CASE("no value of another type crashes the reader or the writers") {
  const json good = json::parse(json_text(report_with_all_parts()));
  const std::vector<json> values{
      nullptr, true,           -1,     1e300,     "</script>|\x1b[31m", json::array(),
      0.5,     json::object(), {1, 2}, {{"a", 1}}};
  // Under a sanitizer each leaf has some of the values.
  const int step = kIsSanitized ? 3 : 1;
  int number = 0;
  int refused = 0;
  const json leaves = good.flatten();
  for (const auto& [pointer, unused] : leaves.items()) {
    for (const json& value : values) {
      if (number++ % step != 0) continue;
      json report = good;
      report[json::json_pointer(pointer)] = value;
      refused += outcome(report.dump()).empty() ? 0 : 1;
    }
  }
  CHECK(refused > 1000 / step);
}

TEST_CASE("a file that is too large, deep, missing or no file is refused") {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& path) {
    return usage_error([&] { (void)load_report(path); });
  };
  CHECK(has(load(folder.write("big.json", std::string((std::size_t{32} << 20U) + 1, ' '))),
            "larger than 32 MiB; this is not a report of cachebisect"));
  CHECK(has(load(folder.write("deep.json", std::string(100000, '['))), "nested deeper"));
  CHECK(has(load(folder.path("none.json")), "cannot be opened"));
  CHECK(has(load(folder.path()), "is a folder; give the path of a report of cachebisect in it"));
  CHECK(outcome(json_text(sample_report())) == "");
}

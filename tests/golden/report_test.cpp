#include <sstream>
#include <string>

#include "golden/sample_report.hpp"
#include "support/golden.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "cachebisect/report/text_layout.hpp"
#include "cachebisect/report/writers.hpp"

namespace {

using cachebisect::testing::check_golden;
using cachebisect::testing::read_file;
using nlohmann::json;

std::string json_text(const cachebisect::Report& report) {
  std::ostringstream out;
  cachebisect::write_json(report, out);
  return out.str();
}

bool valid(const std::string& schema_text, const json& document) {
  const json schema_json = json::parse(schema_text);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  const bool ok =
      validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results);
  valijson::ValidationResults::Error error;
  while (results.popError(error)) MESSAGE(error.description);
  return ok;
}

}  // namespace

TEST_CASE("the terminal report of a certified drop") {
  const std::string text = cachebisect::to_text(cachebisect::test::sample_report());
  check_golden("drop.txt", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(cachebisect::display_width(line) <= 80);
}

TEST_CASE("colour adds escape sequences and nothing else") {
  std::string colored = cachebisect::to_text(cachebisect::test::sample_report(), {.color = true});
  CHECK(colored.find('\x1b') != std::string::npos);
  for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == cachebisect::to_text(cachebisect::test::sample_report()));
}

TEST_CASE("the JSON report of a certified drop is valid against the published schema") {
  const json report = json::parse(json_text(cachebisect::test::sample_report()));
  CHECK(valid(cachebisect::report_schema(), report));
  CHECK(report["verdict"]["stage"] == "decode");
  CHECK(report["stages"][1]["drop"].get<double>() == doctest::Approx(1 - 1010 / 2480.0));
  CHECK(report["what_ifs"][0]["predicted"]["samples_per_second"] == 1980);
  CHECK(report["what_ifs"][1]["predicted"]["samples_per_second"].is_null());
  CHECK(report["loss"]["starvation"] == 0.55);
  CHECK(report["stages"][1]["payoff"]["samples_per_second"] == 2400);
  CHECK(report["live"]["starved_share"] == 0.58);
  CHECK(report["next"]["stage"] == "training step");
  CHECK(report["blocks"][0]["overrides"] == json::object());
  CHECK(report["blocks"][1]["overrides"]["/workers"] == 4);
  CHECK(report["blocks"][1]["overrides"]["/train/precision"] == "bf16");
  CHECK(report["blocks"][1]["ready_batches"] == 1.5);
  CHECK(report["stages"][0]["payoff"]["samples_per_second"].is_null());
}

TEST_CASE("an empty report is valid, and what was not measured is null") {
  const json report = json::parse(json_text(cachebisect::Report{}));
  json with_names = report;
  with_names["device"]["kind"] = "cpu";
  CHECK(valid(cachebisect::report_schema(), with_names));
  CHECK(report["ceiling"]["samples_per_second"].is_null());
  CHECK(report["loss"]["starvation"].is_null());
  CHECK(report["live"]["ready_batches"].is_null());
  CHECK(report["next"].is_null());
}

TEST_CASE("numbers that are not finite become null") {
  cachebisect::Report report = cachebisect::test::sample_report();
  report.ceiling.value = std::numeric_limits<double>::infinity();
  report.loss.total.interval = cachebisect::Interval{std::nan(""), 1};
  const json document = json::parse(json_text(report));
  CHECK(document["ceiling"]["samples_per_second"].is_null());
  CHECK(document["loss"]["interval"][0].is_null());
}

TEST_CASE("the schema refuses a report without its verdict") {
  json report = json::parse(json_text(cachebisect::test::sample_report()));
  report.erase("verdict");
  CHECK_FALSE(valid(cachebisect::report_schema(), report));
}

TEST_CASE("the published schema is the one the tool prints") {
  CHECK(cachebisect::report_schema() ==
        read_file(CACHEBISECT_SOURCE_DIR "/docs/schema/report.schema.json"));
}

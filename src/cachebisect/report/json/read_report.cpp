#include "cachebisect/report/json/read_report.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/format/json_reader.hpp"
#include "cachebisect/report/json/read_recording.hpp"
#include "cachebisect/report/json/report_fields.hpp"
#include "cachebisect/report/json/schema_version.hpp"

namespace cachebisect {
namespace {

constexpr JsonLimits kReportLimits{.max_bytes = std::size_t{32} << 20U,
                                   .document = "a report of cachebisect"};
/// Far more than any chain has: what reads a report may take a time that grows with its square.
constexpr std::size_t kMaxStages = 1000;

/// Parts are numbered by their place.
void check_indices(const JsonValue& values, std::int64_t first) {
  for (const JsonValue& value : values.items()) {
    (void)value["index"].whole(first, first);
    ++first;
  }
}

void check_parts(const JsonValue& document) {
  const std::size_t stages = document["stages"].items().size();
  if (stages > kMaxStages) {
    document["stages"].refuse("must have at most " + std::to_string(kMaxStages) + " entries");
  }
  const std::size_t boundaries = document["boundaries"].items().size();
  if (boundaries != (boundaries == 0 ? 0 : stages + 1)) {
    document["boundaries"].refuse("must have one entry more than /stages");
  }
  check_indices(document["stages"], 1);
  check_indices(document["boundaries"], 0);
}

/// A super-round has few rounds.
void check_rounds(const JsonValue& block) {
  constexpr int kMost = 1000;
  const int round = block["round"].whole_or(0, -1);
  (void)block["super_round"].whole_or(round, std::max(-1, round - kMost), round);
}

void check_block(const JsonValue& block, int stages) {
  check_rounds(block);
  (void)block["boundary"].whole_or(0, 0, stages);
  (void)block["stage"].whole_or(0, 0, stages);
  const JsonValue counters = block["counters"];
  if (counters.is_null()) return;
  for (const char* const key : kCounterKeys) {
    if (counters[key].items().size() == static_cast<std::size_t>(stages)) continue;
    counters[key].refuse("must have " + std::to_string(stages) + " entries");
  }
}

/// No part refers to a stage that the chain does not have.
void check_references(const JsonValue& document) {
  const int stages = static_cast<int>(document["stages"].items().size());
  (void)document["verdict"]["stage_index"].whole_or(0, 0, stages);
  for (const JsonValue& span : document["spans"].items()) {
    (void)span["last"].whole(span["first"].whole(1, stages), stages);
  }
  for (const JsonValue& block : document["blocks"].items()) check_block(block, stages);
}

void check_ranges(const JsonValue& document) {
  const JsonValue confidence = document["settings"]["confidence"];
  const double share = confidence.number_or(BisectSettings{}.confidence);
  if (!(share > 0 && share < 1)) confidence.refuse("must be a share between 0 and 1");
  const JsonValue price = document["cost"]["per_hour"];
  if (!price.is_null() && !(price.number() > 0)) price.refuse("must be greater than 0");
}

void describe_stages(Report& report) {
  for (const StageReport& part : report.stages) {
    StageDescription description;
    description.name = part.name;
    description.type = part.type;
    description.category = part.category;
    description.random = part.random;
    description.cacheable = part.cacheable;
    description.output_bytes = part.output_bytes;
    report.chain.stages.push_back(std::move(description));
  }
}

}  // namespace

Report read_report(std::string_view text, const std::string& origin) {
  const nlohmann::json parsed = read_json(text, origin, kReportLimits);
  const JsonValue document(parsed, origin);
  check_schema_version(document);
  check_parts(document);
  Report report;
  check_references(document);
  report.command.clear();
  JsonReader reader(document);
  fields(reader, report);
  check_ranges(document);
  describe_stages(report);
  report.recording = read_recording(document["recording"], report);
  return report;
}

Report load_report(const std::string& file) {
  return read_report(read_text_file(file, kReportLimits.max_bytes, kReportLimits.document), file);
}

}  // namespace cachebisect

#include <nlohmann/json.hpp>

#include "cachebisect/base/version.hpp"
#include "cachebisect/format/json_values.hpp"
#include "cachebisect/format/yaml_text.hpp"
#include "cachebisect/timing/timing_files.hpp"
#include "cachebisect/timing/timing_findings.hpp"
#include "cachebisect/timing/timing_summary.hpp"

namespace cachebisect {
namespace {

using json_values::Json;
using json_values::number;

Json json_of(const PartSummary& part) {
  return {{"mean_seconds", number(part.mean)},
          {"std_seconds", number(part.std)},
          {"min_seconds", number(part.min)},
          {"max_seconds", number(part.max)},
          {"p50_seconds", number(part.p50)},
          {"p95_seconds", number(part.p95)},
          {"p99_seconds", number(part.p99)},
          {"share", number(part.share)},
          {"samples_per_second", number(part.samples_per_second)}};
}

Json interval_of(const Estimate& estimate) {
  if (!estimate.interval) return nullptr;
  return {number(estimate.interval->low), number(estimate.interval->high)};
}

Json json_of(const TimingCost& cost) {
  return {{"call_seconds", number(cost.call_seconds)},
          {"pairs_of_blocks", cost.pairs},
          {"share", number(cost.share.value)},
          {"interval", interval_of(cost.share)}};
}

Json json_of(const std::optional<TimingMemory>& memory) {
  if (!memory) return nullptr;
  return {{"bytes", number(memory->bytes)}, {"of", memory->of_device ? "device" : "process"}};
}

Json findings_of(const TimingRecord& record, const TimingSummary& summary) {
  Json all = Json::array();
  for (const TimingFinding& finding : timing_findings(record, summary)) {
    all.push_back({{"code", finding.code},
                   {"text", finding.text},
                   {"remedy", finding.remedy},
                   {"command", json_values::text(finding.command)}});
  }
  return all;
}

Json json_of(const TimingRecord& record, const TimedRun& run) {
  const TimingSummary summary = summarise(run, record.parts);
  Json parts = Json::object();
  for (std::size_t i = 0; i < record.parts.size(); ++i) {
    parts[std::string(to_string(record.parts[i]))] = json_of(summary.parts[i]);
  }
  parts["total"] = json_of(summary.total);
  return {{"batch_size", run.batch_size},
          {"workers", run.workers},
          {"batches", summary.batches},
          {"planned_batches", run.planned_batches > 0 ? Json(run.planned_batches) : Json(nullptr)},
          {"ended_by", to_string(run.ended_by)},
          {"samples", summary.samples},
          {"seconds", number(summary.seconds)},
          {"first_batch_seconds", number(run.first_batch_seconds)},
          {"starved_share", record.of_script ? Json(nullptr) : number(summary.starved_share)},
          {"parts", parts},
          {"timing_cost", json_of(run.cost)},
          {"memory", json_of(run.memory)},
          {"findings", findings_of(record, summary)}};
}

Json json_of(const TimingRecord& record) {
  Json runs = Json::array();
  for (const TimedRun& run : record.runs) runs.push_back(json_of(record, run));
  return {{"tool", "cachebisect " + std::string(version())},
          {"name", record.name},
          {"device", record.device},
          {"step", record.step},
          {"precision", json_values::text(record.precision)},
          {"generated_data", record.generated_data},
          {"epochs", record.epochs},
          {"size_exponent", number(size_exponent(record))},
          {"runs", runs}};
}

}  // namespace

std::string timing_summary_yaml(const TimingRecord& record) { return to_yaml(json_of(record)); }

std::string timing_summary_json(const TimingRecord& record) {
  // ASCII alone, so that no character is a command to the terminal.
  return json_of(record).dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string benchmark_config_yaml(const TimingRecord& record) {
  if (!record.config_text.empty()) return record.config_text;
  return to_yaml(Json::parse(record.config_json));
}

}  // namespace cachebisect

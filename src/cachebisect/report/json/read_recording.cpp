#include "cachebisect/report/json/read_recording.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "cachebisect/bisect/record/recorded_rounds.hpp"
#include "cachebisect/format/json_reader.hpp"
#include "cachebisect/report/json/recording_fields.hpp"

namespace cachebisect {
namespace {

void check_length(const JsonValue& values, std::size_t expected) {
  const std::size_t length = values.items().size();
  if (length == 0 || length == expected) return;
  values.refuse("must have " + std::to_string(expected) + " entries");
}

void check_numbers(const JsonValue& values, int least, int most) {
  for (const JsonValue& value : values.items()) (void)value.whole(least, most);
}

void check_arms(const JsonValue& arms, int stages) {
  for (const JsonValue& arm : arms.items()) {
    (void)arm["boundary"].whole_or(0, 0, stages);
    (void)arm["stage"].whole_or(0, 0, stages);
  }
}

/// Tables compare arms with live, and explain a loss with the ceiling too.
void check_columns(const JsonValue& table, int stages) {
  if (table.is_null()) return;
  const JsonValue columns = table["columns"];
  check_arms(columns, stages);
  constexpr std::size_t kLeast = 2;
  if (!columns.is_null() && columns.items().size() == 1) {
    columns.refuse("must have at least " + std::to_string(kLeast) + " entries");
  }
}

void check_chain(const JsonValue& value, std::size_t stages) {
  if (value["chain"]["stages"].items().size() != stages) {
    value["chain"]["stages"].refuse("must have " + std::to_string(stages) + " entries");
  }
  for (const char* const key : {"serve_seconds_per_sample", "item_bytes"}) {
    check_length(value["cache"][key], stages + 1);
  }
}

void check(const JsonValue& value, int stages) {
  check_chain(value, static_cast<std::size_t>(stages));
  check_numbers(value["verdict"]["candidates"], 0, stages);
  check_numbers(value["verdict"]["suspects"], 1, stages);
  for (const char* const table : {"explain_arms", "explain_caches", "verify_rounds"}) {
    check_columns(value[table], stages);
  }
  check_arms(value["verify_arms"], stages);
}

/// The tables follow from the blocks.
void derive_rounds(Measurements& measured) {
  const auto& blocks = measured.blocks;
  measured.verdict.table = recorded_rounds(blocks, BlockPhase::measure,
                                           RoundTable::of_boundaries(measured.stages()).arms());
  if (auto& arms = measured.explain.arms) arms = recorded_explanation(blocks, arms->arms());
  if (auto& caches = measured.explain.caches) {
    caches->table = recorded_rounds(blocks, BlockPhase::check_cache, caches->table.arms());
  }
  RoundTable& verify = measured.verify.table;
  verify = recorded_rounds(blocks, BlockPhase::verify, verify.arms());
}

}  // namespace

std::shared_ptr<const Measurements> read_recording(const JsonValue& value, const Report& report) {
  const int stages = static_cast<int>(report.stages.size());
  if (value.is_null() || stages == 0) return nullptr;
  check(value, stages);
  Measurements measured;
  measured.started = report.started;
  measured.interrupted = report.interrupted;
  measured.chain = report.chain;
  measured.chain.order_nonce = report.settings.order_nonce;
  measured.settings = report.settings;
  measured.step_functions = report.step_functions;
  measured.storage = report.storage;
  measured.blocks = report.blocks;
  JsonReader reader(value);
  fields(reader, measured);
  derive_rounds(measured);
  return std::make_shared<const Measurements>(std::move(measured));
}

}  // namespace cachebisect

#include "cachebisect/history/history.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/format/json_values.hpp"
#include "cachebisect/report/json/read_parts.hpp"

namespace cachebisect {
namespace {

using json_values::Json;

constexpr JsonLimits kLineLimits{.max_bytes = std::size_t{1} << 20U,
                                 .document = "a line of a history"};
constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;
constexpr int kSchemaVersion = 1;

Json interval(const Estimate& estimate) {
  if (!estimate.interval) return nullptr;
  return {json_values::number(estimate.interval->low),
          json_values::number(estimate.interval->high)};
}

Json figure(const char* name, const Estimate& estimate) {
  return {{name, json_values::number(estimate.value)}, {"interval", interval(estimate)}};
}

Json pipeline(const ChainDescription& chain) {
  return {{"name", chain.name},
          {"file", json_values::text(chain.file)},
          {"sha256", json_values::text(chain.sha256)},
          {"batch_size", chain.batch_size},
          {"workers", chain.workers}};
}

Json verdict(const Verdict& v) {
  return {{"kind", to_string(v.kind)},
          {"stage", json_values::text(v.stage)},
          {"drop", json_values::number(v.drop.value)},
          {"drop_interval", interval(v.drop)}};
}

HistoryEntry entry_of(const JsonValue& value) {
  read_parts::check_schema_version(value);
  const JsonValue pipeline = value["pipeline"];
  const JsonValue verdict = value["verdict"];
  HistoryEntry entry;
  entry.started = value["started"].text_or_empty();
  entry.tool_version = value["tool"]["version"].text_or_empty();
  entry.pipeline = pipeline["name"].text_or_empty();
  entry.file = pipeline["file"].text_or_empty();
  entry.sha256 = pipeline["sha256"].text_or_empty();
  entry.batch_size = pipeline["batch_size"].whole_or(1, 1);
  entry.workers = pipeline["workers"].whole_or(0);
  entry.device_kind = read_parts::device_kind(value["device"]["kind"]);
  entry.device_name = value["device"]["name"].text_or_empty();
  entry.live = read_parts::rate(value["live"]);
  entry.ceiling = read_parts::rate(value["ceiling"]);
  entry.loss = read_parts::estimate(value["loss"], "total");
  entry.verdict = verdict["kind"].one_of(read_parts::kVerdictKinds);
  entry.stage = verdict["stage"].text_or_empty();
  entry.drop = read_parts::figure(verdict, "drop", "drop_interval");
  entry.warnings = value["warnings"].texts();
  entry.interrupted = value["interrupted"].flag_or(false);
  return entry;
}

}  // namespace

std::string history_line(const Report& report) {
  Json warnings = Json::array();
  for (const Warning& warning : report.warnings) warnings.push_back(warning.code);
  const ChainDescription& chain = report.chain;
  const Json json = {
      {"schema_version", kSchemaVersion},
      {"started", report.started},
      {"tool",
       {{"name", "cachebisect"},
        {"version", version()},
        {"git", json_values::text(git_revision())}}},
      {"pipeline", pipeline(chain)},
      {"device", {{"kind", to_string(chain.device_kind)}, {"name", chain.device_name}}},
      {"live", figure("samples_per_second", report.live)},
      {"ceiling", figure("samples_per_second", report.ceiling)},
      {"loss", figure("total", report.loss.total)},
      {"verdict", verdict(report.verdict)},
      {"warnings", std::move(warnings)},
      {"interrupted", report.interrupted}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

History read_history(std::string_view text, const std::string& origin) {
  History history;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = origin + ":" + std::to_string(number);
    try {
      const nlohmann::json parsed = read_json(line, place, kLineLimits);
      history.entries.push_back(entry_of({parsed, place}));
    } catch (const Error& error) {
      history.problems.emplace_back(error.what());
    }
  }
  return history;
}

History load_history(const std::string& file) {
  const std::string text = read_text_file(file, kMaxBytes, "a history (of --append FILE)");
  if (text.size() > kMaxBytes) {
    throw Error(ErrorKind::usage,
                file + ": larger than 256 MiB; keep its end: tail -n 10000 FILE > NEW");
  }
  return read_history(text, file);
}

}  // namespace cachebisect

#include "cachebisect/history/history.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/format/json_reader.hpp"
#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/report/json/result_fields.hpp"
#include "cachebisect/report/json/schema_version.hpp"

namespace cachebisect {
namespace {

constexpr JsonLimits kLineLimits{.max_bytes = std::size_t{1} << 20U,
                                 .document = "a line of a history"};
constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;

template <class Visitor>
void pipeline_fields(Visitor& v, Visited<Visitor, HistoryEntry>& entry) {
  v.text({"name"}, entry.pipeline);
  v.optional_text({"file"}, entry.file);
  v.optional_text({"sha256"}, entry.sha256);
  v.whole({"batch_size"}, entry.batch_size, 1);
  v.whole({"workers"}, entry.workers);
}

template <class Visitor>
void tool_fields(Visitor& v, Visited<Visitor, HistoryEntry>& entry) {
  std::string name = "cachebisect";
  std::string git = git_revision();
  v.text({"name"}, name);
  v.text({"version"}, entry.tool_version);
  v.optional_text({"git"}, git);
}

template <class Visitor>
void device_fields(Visitor& v, Visited<Visitor, HistoryEntry>& entry) {
  v.choice({"kind", {}, Presence::required}, entry.device_kind, kAllDeviceKinds);
  v.text({"name"}, entry.device_name);
}

template <class Visitor>
void verdict_fields(Visitor& v, Visited<Visitor, HistoryEntry>& entry) {
  v.choice({"kind", {}, Presence::required}, entry.verdict, kVerdictKinds);
  v.optional_text({"stage"}, entry.stage);
  estimate(v, {"drop"}, {"drop_interval"}, entry.drop);
}

/// A line of a history.
template <class Visitor>
void entry_fields(Visitor& v, Visited<Visitor, HistoryEntry>& entry) {
  int schema = kReportSchemaVersion;
  v.whole({"schema_version"}, schema);
  v.text({"started"}, entry.started);
  v.group({"tool"}, [&] { tool_fields(v, entry); });
  v.group({"pipeline"}, [&] { pipeline_fields(v, entry); });
  v.group({"device"}, [&] { device_fields(v, entry); });
  rate(v, {"live"}, entry.live);
  rate(v, {"ceiling"}, entry.ceiling);
  v.group({"loss"}, [&] { estimate(v, {"total"}, {"interval"}, entry.loss); });
  v.group({"verdict"}, [&] { verdict_fields(v, entry); });
  v.texts({"warnings"}, entry.warnings);
  v.flag({"interrupted"}, entry.interrupted);
}

HistoryEntry read_entry(const JsonValue& value) {
  check_schema_version(value);
  HistoryEntry entry;
  JsonReader reader(value);
  entry_fields(reader, entry);
  return entry;
}

HistoryEntry entry_of(const Report& report) {
  const ChainDescription& chain = report.chain;
  HistoryEntry entry{.started = report.started,
                     .tool_version = version(),
                     .pipeline = chain.name,
                     .file = chain.file,
                     .sha256 = chain.sha256,
                     .batch_size = chain.batch_size,
                     .workers = chain.workers,
                     .device_kind = chain.device_kind,
                     .device_name = chain.device_name,
                     .live = report.live,
                     .ceiling = report.ceiling,
                     .loss = report.loss.total,
                     .verdict = report.verdict.kind,
                     .stage = report.verdict.stage,
                     .drop = report.verdict.drop,
                     .interrupted = report.interrupted};
  for (const Warning& warning : report.warnings) entry.warnings.push_back(warning.code);
  return entry;
}

}  // namespace

std::string history_line(const Report& report) {
  JsonWriter writer;
  entry_fields(writer, entry_of(report));
  return writer.json().dump(-1, ' ', true, JsonWriter::Json::error_handler_t::replace) + '\n';
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
      history.entries.push_back(read_entry({parsed, place}));
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

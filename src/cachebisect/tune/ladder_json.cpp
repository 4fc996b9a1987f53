#include "cachebisect/tune/ladder_json.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/format/json_reader.hpp"
#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/report/json/result_fields.hpp"

namespace cachebisect::tune {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Trial>& trial) {
  v.text({"id"}, trial.id);
  v.text({"text"}, trial.text);
  v.list({"edits"}, trial.edits);
  v.texts({"lines"}, trial.lines);
  v.group({"predicted"}, [&] { estimate(v, {"gain"}, {"interval"}, trial.predicted); });
  v.group({"measured"}, [&] { estimate(v, {"gain"}, {"interval"}, trial.measured); });
  v.flag({"kept"}, trial.kept);
  v.optional_text({"fault"}, trial.fault);
  v.number({"samples_per_second"}, trial.samples_per_second);
  v.number({"step_seconds"}, trial.step_seconds);
  v.optional_text({"written_after"}, trial.written_after);
  v.optional_text({"folder"}, trial.folder);
  v.flag({"removed"}, trial.removed);
}

namespace {

constexpr JsonLimits kLadderLimits{.max_bytes = std::size_t{8} << 20U,
                                   .document = "a ladder of cachebisect tune"};

template <class Visitor>
void result_fields(Visitor& v, Visited<Visitor, Result>& result) {
  v.text({"name"}, result.name);
  v.text({"device"}, result.device);
  rate(v, {"start"}, result.start);
  v.number({"start_step_seconds"}, result.start_seconds);
  rate(v, {"best"}, result.best);
  rate(v, {"ceiling"}, result.ceiling);
  v.list({"trials"}, result.trials);
  v.list({"untried"}, result.untried);
  v.text({"verdict"}, result.verdict);
  v.text({"end"}, result.end);
  v.number({"seconds"}, result.seconds);
  v.flag({"interrupted"}, result.interrupted);
  v.json({"pipeline"}, result.pipeline_json);
}

}  // namespace

std::string to_json(const Result& result) {
  JsonWriter writer;
  result_fields(writer, result);
  return writer.json().dump(2, ' ', true, JsonWriter::Json::error_handler_t::replace) + '\n';
}

Result read_ladder(std::string_view text, const std::string& origin) {
  const nlohmann::json document = read_json(text, origin, kLadderLimits);
  JsonReader reader(JsonValue(document, origin));
  Result result;
  result_fields(reader, result);
  if (result.pipeline_json.empty() || result.pipeline_json == "null") {
    throw Error(ErrorKind::usage,
                origin + ": /pipeline must be the tuned pipeline; is this a ladder of tune?");
  }
  return result;
}

Result load_ladder(const std::string& file) {
  return read_ladder(read_text_file(file, kLadderLimits.max_bytes, kLadderLimits.document), file);
}

}  // namespace cachebisect::tune

#include "cachebisect/timing/script_timing.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

constexpr int kFileVersion = 1;
const std::vector<TimePart> kParts{TimePart::load, TimePart::forward, TimePart::backward,
                                   TimePart::optimizer};

std::string bisect_command(const std::vector<std::string>& command) {
  std::string text = "cachebisect run --";
  for (const std::string& word : command) text += ' ' + shell_word(word);
  return text;
}

TimingEnd end_named(const Fields& fields) {
  const std::string name = fields.text("ended_by");
  for (const TimingEnd end : {TimingEnd::epochs, TimingEnd::max_batches, TimingEnd::max_seconds}) {
    if (name == to_string(end)) return end;
  }
  return TimingEnd::script;
}

std::vector<double> column(const Fields& batches, const char* name, std::size_t length) {
  std::vector<double> values = batches.amounts_or_empty(name);
  if (values.size() != length) batches.refuse(name, "as many numbers as the others");
  return values;
}

/// Whole numbers.
std::vector<double> count_column(const Fields& batches, const char* name, std::size_t length) {
  constexpr double kMost = 9e15;  // each whole number up to here is a double
  std::vector<double> values = column(batches, name, length);
  const auto is_count = [](double value) { return value <= kMost && value == std::floor(value); };
  if (!std::ranges::all_of(values, is_count)) batches.refuse(name, "whole numbers");
  return values;
}

std::vector<BatchTimes> batches_of(const Fields& fields) {
  const std::vector<double> totals = fields.amounts_or_empty("total");
  const auto values = [&](const char* name) { return column(fields, name, totals.size()); };
  const std::vector<double> epochs = count_column(fields, "epoch", totals.size());
  const std::vector<double> samples = count_column(fields, "samples", totals.size());
  const std::vector<double> waits = values("wait");
  std::vector<BatchTimes> batches(totals.size());
  for (std::size_t i = 0; i < totals.size(); ++i) {
    batches[i].batch = i;
    batches[i].epoch = static_cast<std::uint64_t>(epochs[i]);
    batches[i].samples = static_cast<std::int64_t>(samples[i]);
    batches[i].total_seconds = batches[i].of(TimePart::other) = totals[i];
    batches[i].wait_seconds = waits[i];
  }
  for (const TimePart part : kParts) {
    const std::vector<double> seconds = values(std::string(to_string(part)).c_str());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      BatchTimes& batch = batches[i];
      // Events of a GPU are rounded.
      batch.of(part) = std::min(seconds[i], batch.of(TimePart::other));
      batch.of(TimePart::other) -= batch.of(part);
    }
  }
  return batches;
}

TimingRecord record_of(const Fields& fields, const std::vector<std::string>& command,
                       const TimingOptions& options) {
  if (fields.small_count("version") != kFileVersion) fields.refuse("version", "1");
  TimedRun run{.batch_size = fields.small_count("batch_size"),
               .workers = fields.small_count("workers"),
               .batches = batches_of(fields.object("batches")),
               .first_batch_seconds = fields.amount("first_batch_seconds"),
               .ended_by = end_named(fields)};
  run.cost.call_seconds = fields.amount("call_seconds");
  TimingRecord record;
  record.name = fields.text("name");
  record.device = fields.text("device");
  record.step = "the script's own";
  record.of_script = true;
  record.parts = kParts;
  record.parts.push_back(TimePart::other);
  record.epochs = options.epochs;
  record.bisect_command = bisect_command(command);
  record.config_json = nlohmann::ordered_json{{"command", command},
                                              {"torch", fields.text("torch")},
                                              {"batch_size", run.batch_size},
                                              {"workers", run.workers},
                                              {"epochs", options.epochs},
                                              {"max_batches", options.max_batches},
                                              {"max_seconds", options.max_seconds}}
                           .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  record.runs.push_back(std::move(run));
  return record;
}

}  // namespace

std::string script_timing_request(const std::string& file, const TimingOptions& options,
                                  bool continues) {
  return nlohmann::json{{"file", file},
                        {"epochs", options.epochs},
                        {"max_batches", options.max_batches},
                        {"max_seconds", options.max_seconds},
                        {"then", continues ? "continue" : "exit"}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TimingRecord read_script_timing(const std::string& text, const std::vector<std::string>& command,
                                const TimingOptions& options) {
  try {
    const auto json = nlohmann::json::parse(text);
    return record_of(Fields(json, "the times of the script"), command, options);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::data, std::string("the times of the script: ") + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::data, error.what());
  }
}

}  // namespace cachebisect

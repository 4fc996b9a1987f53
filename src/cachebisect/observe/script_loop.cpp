#include "cachebisect/observe/script_loop.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

constexpr int kFileVersion = 1;
constexpr std::array kScriptParts{TimePart::load, TimePart::forward, TimePart::backward,
                                  TimePart::optimizer, TimePart::other};

LoopEnd end_named(const Fields& fields) {
  const std::string name = fields.text("ended_by");
  for (const LoopEnd end : {LoopEnd::epochs, LoopEnd::max_batches, LoopEnd::max_seconds}) {
    if (name == to_string(end)) return end;
  }
  return LoopEnd::script;
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
  for (const TimePart part : kScriptParts) {
    if (part == TimePart::other) continue;  // what is left
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

ScriptLoop loop_of(const Fields& fields) {
  if (fields.small_count("version") != kFileVersion) fields.refuse("version", "1");
  ScriptLoop loop;
  loop.batch_size = fields.small_count("batch_size");
  loop.workers = fields.small_count("workers");
  loop.batches = batches_of(fields.object("batches"));
  loop.first_batch_seconds = fields.amount("first_batch_seconds");
  loop.ended_by = end_named(fields);
  loop.call_seconds = fields.amount("call_seconds");
  loop.name = fields.text("name");
  loop.device = fields.text("device");
  loop.torch = fields.text("torch");
  return loop;
}

}  // namespace

std::span<const TimePart> script_parts() noexcept { return kScriptParts; }

std::string script_loop_request(const std::string& file, const LoopLimits& limits, bool continues) {
  return nlohmann::json{{"file", file},
                        {"epochs", limits.epochs},
                        {"max_batches", limits.max_batches},
                        {"max_seconds", limits.max_seconds},
                        {"then", continues ? "continue" : "exit"}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ScriptLoop read_script_loop(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    return loop_of(Fields(json, "the times of the script"));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::data, std::string("the times of the script: ") + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::data, error.what());
  }
}

}  // namespace cachebisect

#include "cachebisect/timing/script_times.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/shell_word.hpp"

namespace cachebisect {
namespace {

std::string bisect_command(const std::vector<std::string>& command) {
  std::string text = "cachebisect run --";
  for (const std::string& word : command) text += ' ' + shell_word(word);
  return text;
}

std::string script_config(const ScriptLoop& loop, const std::vector<std::string>& command,
                          const TimingOptions& options) {
  return nlohmann::ordered_json{{"command", command},
                                {"torch", loop.torch},
                                {"batch_size", loop.batch_size},
                                {"workers", loop.workers},
                                {"epochs", options.epochs},
                                {"max_batches", options.max_batches},
                                {"max_seconds", options.max_seconds}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

TimingRecord timing_record_of(ScriptLoop loop, const std::vector<std::string>& command,
                              const TimingOptions& options) {
  TimingRecord record;
  record.name = loop.name;
  record.device = loop.device;
  record.step = loop.step;
  record.of_script = true;
  record.parts.assign(script_parts().begin(), script_parts().end());
  record.epochs = options.epochs;
  record.bisect_command = bisect_command(command);
  record.config_json = script_config(loop, command, options);
  record.runs.push_back({.batch_size = loop.batch_size,
                         .workers = loop.workers,
                         .batches = std::move(loop.batches),
                         .first_batch_seconds = loop.first_batch_seconds,
                         .ended_by = loop.ended_by,
                         .cost = {.call_seconds = loop.call_seconds}});
  return record;
}

ScriptTimes time_script(CommandWithFolder& run, const ScriptCommand& command,
                        const TimingOptions& options, const std::stop_token& stop) {
  FollowedScript script = follow_script(run, command,
                                        {.epochs = options.epochs,
                                         .max_batches = options.max_batches,
                                         .max_seconds = options.max_seconds},
                                        stop);
  return {timing_record_of(std::move(script.loop), command.words, options), script.exit_code};
}

}  // namespace cachebisect

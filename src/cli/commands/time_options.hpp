// The options of `time` as typed, and what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/lightning_options.hpp"
#include "commands/pipeline_options.hpp"

#include "cachebisect/timing/time_job.hpp"

namespace cachebisect::cli {

struct TimeArguments {
  PipelineOptions pipeline;
  std::vector<std::int64_t> batch_sizes;  ///< empty: the pipeline's own
  int epochs = 2;
  std::string save_dir;
  std::string precision;  ///< empty: the pipeline's own
  std::string hook;
  std::string then = "exit";
  std::vector<std::string> command;  ///< of a script, in place of a pipeline
  LightningArguments lightning;      ///< in place of both
  std::uint64_t max_batches = 0;
  double max_seconds = 60;
  std::string json;  ///< a file, or "-" for standard output
  bool quiet = false;
  bool no_progress = false;
  std::string color = "auto";
};

void add_time_options(CLI::App& app, TimeArguments& arguments);
/// Checks ranges. Throws Error(usage) naming the option.
TimingOptions timing_options(const TimeArguments& arguments);
/// The command that trains what -c names; that after -- otherwise. Throws Error(usage).
std::vector<std::string> timed_command(const TimeArguments& arguments);
/// The options of the pipeline, at its own batch size.
PipelineOptions pipeline_options(const TimeArguments& arguments);

}  // namespace cachebisect::cli

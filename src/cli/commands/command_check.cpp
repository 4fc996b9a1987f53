#include <iostream>
#include <memory>
#include <stop_token>
#include <string>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect::cli {
namespace {

struct CheckArguments {
  PipelineOptions pipeline;
  bool sample = false;
  std::string color = "auto";
};

// Bytes of one sample at a boundary; "?" if a shape is dynamic.
std::string bytes_text(const ChainStage& stage, std::int64_t batch_size) {
  double bytes = 0;
  for (const FieldSpec& field : stage.output) {
    if (!field.shape.is_static()) return "?";
    bytes +=
        static_cast<double>(field.shape.elements()) * static_cast<double>(size_of(field.dtype));
  }
  return format_bytes(stage.batched_output ? bytes / static_cast<double>(batch_size) : bytes);
}

document::Table stages_table(const Pipeline& pipeline) {
  document::Table table{.columns = {{"", Align::right},
                                    {"stage", Align::left, true},
                                    {"type"},
                                    {"per sample", Align::right},
                                    {.title = "output", .may_be_below = true}}};
  for (const ChainStage& stage : pipeline.stages()) {
    table.rows.push_back({std::to_string(table.rows.size() + 1), stage.name, stage.type,
                          bytes_text(stage, pipeline.batch_size()), describe(stage.output)});
  }
  return table;
}

Document chain_document(const Job& job) {
  const Pipeline& pipeline = job.pipeline;
  Document all;
  all.say(pipeline.spec().name + ": " + std::to_string(pipeline.samples()) + " samples" +
              (pipeline.source().generated() ? " (generated data)" : "") + ", batch " +
              std::to_string(pipeline.batch_size()) + ", " + std::to_string(job.workers) +
              " workers, device " + job.device->info().name + ", step " + job.step->name(),
          2);
  const std::string storage = emulated_storage_text(to_json(pipeline.spec()));
  if (!storage.empty()) all.say("The storage is emulated: " + storage + ".");
  all.gap();
  all.add(stages_table(pipeline));
  return all;
}

void run_sample(const Job& job, const std::stop_token& stop) {
  PipelineReplayer replayer = job.make_replayer();
  BlockRequest request;
  request.steps = 1;
  request.warmup_steps = 1;
  const BlockResult result = replayer.run(request, stop);
  std::cout << "\none batch and one step: ok, " << format_seconds(result.seconds) << " per step\n";
}

int run(const CheckArguments& arguments) {
  const TextOptions page = text_options(arguments.color, STDOUT_FILENO);
  SignalWatch signals;
  ProgressLine progress(isatty(STDERR_FILENO) != 0);
  const auto work = [&] {
    const Registry registry = make_registry(arguments.pipeline.plugins);
    const OpenContext opening{.stop = signals.token(),
                              .progress = [&](const std::string& line) { progress.show(line); }};
    const Job job = open_job(load_spec(arguments.pipeline, registry), registry,
                             {.order_nonce = 0, .opening = opening});
    progress.clear();
    std::cout << to_text(chain_document(job), page);
    if (arguments.sample) run_sample(job, signals.token());
    signals.begin_output();
    signals.begin_streams();
    std::cout.flush();
    return 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

}  // namespace

Command add_check(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  add_pipeline_options(app, arguments->pipeline);
  app.add_flag("--sample", arguments->sample, "run one batch and one step as well");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli

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
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/pipeline/chain.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect::cli {
namespace {

struct CheckArguments {
  PipelineOptions pipeline;
  bool sample = false;
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

void print_chain(const Job& job) {
  const Pipeline& pipeline = job.pipeline;
  std::cout << printable(pipeline.spec().name) << ": " << pipeline.samples() << " samples"
            << (pipeline.source().generated() ? " (generated data)" : "") << ", batch "
            << pipeline.batch_size() << ", " << job.workers << " workers, device "
            << job.device->info().name << ", step " << printable(job.step->name()) << "\n";
  const std::string storage = emulated_storage_text(to_json(pipeline.spec()));
  if (!storage.empty()) std::cout << "The storage is emulated: " << storage << ".\n";
  std::cout << "\n";
  TextTable table({{"", Align::right},
                   {"stage", Align::left},
                   {"type", Align::left},
                   {"per sample", Align::right},
                   {"output", Align::left}});
  std::size_t boundary = 0;
  for (const ChainStage& stage : pipeline.stages()) {
    table.add({std::to_string(++boundary), stage.name, stage.type,
               bytes_text(stage, pipeline.batch_size()), printable(describe(stage.output))});
  }
  std::cout << table.to_text(TextPaint(false));
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
  SignalWatch signals;
  ProgressLine progress(isatty(STDERR_FILENO) != 0);
  const auto work = [&] {
    const Registry registry = make_registry(arguments.pipeline.plugins);
    const OpenContext opening{.stop = signals.token(),
                              .progress = [&](const std::string& line) { progress.show(line); }};
    const Job job = open_job(load_spec(arguments.pipeline, registry), registry,
                             {.order_nonce = 0, .opening = opening});
    progress.clear();
    print_chain(job);
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
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli

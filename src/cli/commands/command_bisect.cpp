#include <memory>

#include "commands/bisect_options.hpp"
#include "commands/bisect_session.hpp"
#include "commands/commands.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::cli {
namespace {

std::string opened_line(const Job& job, double seconds) {
  const Pipeline& pipeline = job.pipeline;
  return pipeline.spec().name + ": " + std::to_string(pipeline.samples()) + " samples, " +
         std::to_string(job.workers) + " workers, device " + job.device->info().name + ", step " +
         job.step->name() + ", opened in " + format_seconds(seconds);
}

OpenContext opening(SessionTools& tools) {
  return {.stop = tools.options.stop, .progress = [&tools](const std::string& line) {
            tools.progress.show(line);
            tools.log.debug(line);
          }};
}

Report measure(const BisectArguments& arguments, Registry& registry, SessionTools& tools) {
  const double started = monotonic_seconds();
  registry = make_registry(arguments.pipeline.plugins);
  BisectOptions& options = tools.options;
  const Job job = open_job(load_spec(arguments.pipeline, registry), registry,
                           {.io = io_mode_of(arguments.io),
                            .order_nonce = options.order_nonce,
                            .opening = opening(tools)});
  tools.progress.clear();
  tools.log.info(opened_line(job, monotonic_seconds() - started));
  const double device_bytes = static_cast<double>(job.device->info().free_bytes.value_or(0));
  options.cache = cache_budget(arguments, device_bytes);
  options.seed = job.pipeline.spec().seed;
  PipelineReplayer replayer = job.make_replayer();
  const double prepared = monotonic_seconds();
  Report report = bisect(replayer, options);
  if (const auto counts = request_counts_of(job.pipeline.source())) {
    tools.progress.clear();
    const std::string line = "servers: " + to_text(*counts);
    if (counts->repeated > 0) {
      tools.log.warn(line);
    } else {
      tools.log.info(line);
    }
  }
  add_preparation(report.timing, prepared - started);
  return report;
}

int run(const BisectArguments& arguments) {
  Registry registry;  // keeps plugins open until their errors have been handled
  return run_session(arguments, library_options(arguments), {.measure = [&](SessionTools& tools) {
                       return measure(arguments, registry, tools);
                     }});
}

}  // namespace

Command add_bisect(CLI::App& app) {
  auto arguments = std::make_shared<BisectArguments>();
  add_bisect_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli

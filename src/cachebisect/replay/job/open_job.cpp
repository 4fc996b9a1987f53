#include "cachebisect/replay/job/open_job.hpp"

#include <chrono>
#include <map>
#include <utility>

#include <unistd.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/replay/cache/fill_stages.hpp"
#include "cachebisect/replay/choose_workers.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/make_train_step.hpp"
#include "cachebisect/replay/job/rebuild.hpp"
#include "cachebisect/train/train_threads.hpp"

namespace cachebisect {
namespace {

std::uint64_t draw_nonce() {
  constexpr std::uint64_t max = 999'999;  // short enough to type
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return 1 + RandomStream({.seed = static_cast<std::uint64_t>(now),
                           .epoch = static_cast<std::uint64_t>(getpid()),
                           .stage = hash_name("order nonce")})
                 .below(max);
}

bool makes_step(const JobOptions& options, const Device& device) {
  return !options.step || device.kind() == DeviceKind::emulated;
}

/// Measures how many workers are best, with the step that each count would train with.
void resolve_workers(const JobOptions& options, Job& job) {
  std::map<int, std::shared_ptr<TrainStep>> steps;  // by threads, which workers take away
  const auto step_for = [&](int workers) {
    if (!makes_step(options, *job.device)) return options.step;
    const bool on_cpu = job.device->kind() == DeviceKind::cpu;
    auto& step = steps[on_cpu ? train_threads(job.pipeline.spec().train, workers) : 0];
    if (!step) step = make_train_step(job.pipeline, *job.device, workers, job.registry);
    return step;
  };
  job.opening.report("measuring how many workers are best");
  WorkerChoice choice =
      choose_workers(job.pipeline, job.device, step_for, *job.order, job.opening.stop);
  job.workers = choice.workers;
  job.worker_search = std::move(choice.search);
}

}  // namespace

PipelineReplayer Job::make_replayer() const {
  ReplayOptions options{
      .io = io, .workers = workers, .worker_search = worker_search, .order = order};
  if (registry != nullptr)
    options.rebuild = make_rebuild(pipeline, device, workers, *registry, opening);
  return {pipeline, device, step, options};
}

Job open_job(Pipeline pipeline, const Registry* registry, JobOptions options) {
  Job job{.pipeline = std::move(pipeline),
          .device = options.device,
          .step = options.step,
          .io = options.io,
          .registry = registry,
          .opening = options.opening};
  const std::uint64_t nonce = options.order_nonce ? *options.order_nonce : draw_nonce();
  job.order = std::make_shared<LiveOrder>(job.pipeline, nonce);
  if (!job.device) job.device = make_device(job.pipeline.spec());
  fill_cache_stages(job.pipeline, *job.device, job.opening);
  if (!makes_step(options, *job.device)) check_device(*job.step, job.device->info());
  job.workers = options.workers.value_or(job.pipeline.spec().workers);
  if (job.workers == kAutoWorkers) resolve_workers(options, job);
  if (makes_step(options, *job.device)) {
    job.step = make_train_step(job.pipeline, *job.device, job.workers, registry);
  }
  return job;
}

Job open_job(PipelineSpec spec, const Registry& registry, JobOptions options) {
  if (!options.device) options.device = make_device(spec);
  Pipeline pipeline = Pipeline::from_spec(std::move(spec), registry, options.opening);
  return open_job(std::move(pipeline), &registry, std::move(options));
}

}  // namespace cachebisect

#include "cachebisect/replay/job/open_job.hpp"

#include <utility>

#include "cachebisect/executor/resolve_workers.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/make_train_step.hpp"
#include "cachebisect/replay/job/rebuild.hpp"

namespace cachebisect {
PipelineReplayer Job::make_replayer() const {
  ReplayOptions options{.io = io, .workers = workers};
  if (registry != nullptr)
    options.rebuild = make_rebuild(pipeline, device, workers, *registry, opening);
  return {pipeline, device, step, options};
}

Job open_job(Pipeline pipeline, const Registry* registry, JobOptions options) {
  Job job{.pipeline = std::move(pipeline),
          .device = std::move(options.device),
          .step = std::move(options.step),
          .io = options.io,
          .registry = registry,
          .opening = std::move(options.opening)};
  if (!job.device) job.device = make_device(job.pipeline.spec());
  job.workers = options.workers.value_or(job.pipeline.spec().workers);
  if (job.workers == kAutoWorkers) job.workers = resolve_workers(job.pipeline, *job.device);
  if (!job.step || job.device->kind() == DeviceKind::emulated) {
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

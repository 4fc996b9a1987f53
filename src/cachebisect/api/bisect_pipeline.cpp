#include "cachebisect/api/bisect_pipeline.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/job/rebuild.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {
Report bisect(const Pipeline& pipeline, std::shared_ptr<TrainStep> step,
              const BisectOptions& options, const Registry* registry) {
  if (!step) throw Error(ErrorKind::usage, "bisect: there is no training step");
  const std::shared_ptr<Device> device = make_device(pipeline.spec());
  if (device->kind() == DeviceKind::emulated) {
    // An emulated accelerator runs no code: its steps are time alone.
    step =
        make_emulated_step(pipeline.spec().emulate.value_or(EmulateSpec{}), pipeline.spec().seed);
  }
  ReplayOptions replay{.io = io_mode_of(options.io), .workers = pipeline.spec().workers};
  if (replay.workers == kAutoWorkers) replay.workers = resolve_workers(pipeline, *device);
  if (registry != nullptr) {
    replay.rebuild = make_rebuild(pipeline, device, *replay.workers, *registry);
  }
  PipelineReplayer replayer(pipeline, device, std::move(step), replay);
  return bisect(replayer, options);
}

Report bisect(const Pipeline& pipeline, std::function<void(const DeviceBatch&)> step,
              const BisectOptions& options) {
  return bisect(pipeline, make_callback_step(std::move(step)), options);
}

}  // namespace cachebisect

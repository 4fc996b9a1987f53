#include "cachebisect/api/bisect_pipeline.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect {

Report bisect(const Pipeline& pipeline, std::shared_ptr<TrainStep> step,
              const BisectOptions& options, const Registry* registry) {
  if (!step) throw Error(ErrorKind::usage, "bisect: there is no training step");
  const Job job = open_job(pipeline, registry,
                           {.io = io_mode_of(options.io),
                            .step = std::move(step),
                            .order_nonce = options.order_nonce,
                            .opening = {.stop = options.stop}});
  PipelineReplayer replayer = job.make_replayer();
  return bisect(replayer, options);
}

Report bisect(const Pipeline& pipeline, std::function<void(const DeviceBatch&)> step,
              const BisectOptions& options) {
  return bisect(pipeline, make_callback_step(std::move(step)), options);
}

}  // namespace cachebisect

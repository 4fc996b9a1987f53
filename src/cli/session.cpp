#include "session.hpp"

#include "cachebisect/replay/job/rebuild.hpp"

namespace cachebisect::cli {

std::unique_ptr<PipelineReplayer> Session::make_replayer(IoMode io) const {
  const ReplayOptions options{
      .io = io, .workers = workers, .rebuild = make_rebuild(*pipeline, device, workers, registry)};
  return std::make_unique<PipelineReplayer>(*pipeline, device, step, options);
}

Session open_session(const PipelineOptions& options) {
  Session session{
      .registry = make_registry(options.plugins), .pipeline = {}, .device = {}, .step = {}};
  PipelineSpec spec = load_spec(options, session.registry);
  session.device = make_device(spec);
  session.pipeline =
      std::make_unique<Pipeline>(Pipeline::from_spec(std::move(spec), session.registry));
  const int asked = session.pipeline->spec().workers;
  session.workers =
      asked == kAutoWorkers ? resolve_workers(*session.pipeline, *session.device) : asked;
  session.step =
      make_train_step(*session.pipeline, *session.device, session.workers, session.registry);
  return session;
}

}  // namespace cachebisect::cli

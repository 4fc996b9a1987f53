// Everything that a pipeline needs to run: registry, pipeline, device, workers, training step.
#pragma once

#include <memory>

#include "pipeline_options.hpp"

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::cli {

/// Members are destroyed in reverse: what came from the registry's plugins goes before the
/// registry.
struct Session {
  Registry registry;
  std::unique_ptr<Pipeline> pipeline;
  std::shared_ptr<Device> device;
  int workers = 0;  ///< resolved
  std::shared_ptr<TrainStep> step;

  /// Must not outlive the session.
  [[nodiscard]] std::unique_ptr<PipelineReplayer> make_replayer(IoMode io) const;
};

/// Reads, checks, opens and resolves. Throws Error: usage, data or device.
Session open_session(const PipelineOptions& options);

}  // namespace cachebisect::cli

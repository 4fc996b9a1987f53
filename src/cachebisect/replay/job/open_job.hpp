// Opens a training job from a pipeline: everything that is needed to replay it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

struct JobOptions {
  IoMode io = IoMode::as_is;
  std::optional<int> workers{};       ///< empty: the pipeline's own; kAutoWorkers: measured here
  std::shared_ptr<Device> device{};   ///< null: the one that the spec names
  std::shared_ptr<TrainStep> step{};  ///< null: the one that the spec names
  /// Chooses the place in the epoch where reading begins, so that a run does not read what an
  /// earlier one has left in memory; 0: the beginning of the epoch. Empty: drawn anew, from 1 to
  /// 999,999.
  std::optional<std::uint64_t> order_nonce{};
  OpenContext opening{};  ///< for the stages of the pipeline and of its variants
};

/// A pipeline with its device, its worker count, its training step and the order of its samples.
struct CACHEBISECT_API Job {
  Pipeline pipeline;
  std::shared_ptr<Device> device;
  std::shared_ptr<TrainStep> step;
  int workers = 0;                              ///< resolved
  std::optional<WorkerSearch> worker_search{};  ///< how, if they were measured
  IoMode io = IoMode::as_is;
  const Registry* registry = nullptr;  ///< may be null
  std::shared_ptr<LiveOrder> order;
  OpenContext opening{};  ///< for the stages of variants

  /// A replayer of its own at each call; it shares device, step and order, and must not outlive the
  /// registry.
  [[nodiscard]] PipelineReplayer make_replayer() const;
};

/// Makes what `options` leaves open. On an emulated device the step is always an emulated one,
/// because such a device runs no code: its steps are time alone. `registry` is the one that the
/// pipeline was made with, and must outlive the job; null: live arms with overrides are not
/// supported and steps of plugins are not found. Throws Error: usage, data or device.
CACHEBISECT_API Job open_job(Pipeline pipeline, const Registry* registry, JobOptions options = {});
/// As above, from a spec: makes the device first, because that is cheaper than opening the data.
CACHEBISECT_API Job open_job(PipelineSpec spec, const Registry& registry, JobOptions options = {});

}  // namespace cachebisect

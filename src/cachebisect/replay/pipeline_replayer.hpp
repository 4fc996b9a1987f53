// Replays a real pipeline: live, or from the cache of any boundary, with real training steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/replay/reading/io_mode.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

class LiveOrder;
class LoadRecorder;
class LoopObserver;

/// The pipeline after overrides.
struct PipelineVariant {
  Pipeline pipeline;
  std::shared_ptr<TrainStep> step{};  ///< null: the present one
  std::shared_ptr<Device> device{};   ///< null: the present one
};

/// Overrides as `--set` takes them: path -> JSON value, else a string.
using Overrides = std::map<std::string, std::string>;

struct ReplayOptions {
  IoMode io = IoMode::as_is;
  std::optional<int> workers;  ///< resolved; empty: the pipeline's own, "auto" resolved here
  std::optional<WorkerSearch> worker_search{};  ///< how `workers` was resolved, for describe()
  /// Makes the pipeline anew with these overrides, for live arms that have some. Throws
  /// Error(usage) naming the path that is wrong. Empty: such arms are not supported.
  std::function<PipelineVariant(const Overrides& overrides)> rebuild{};
  /// The order of the pipeline's samples, shared with what has read some of them. Null: a new one,
  /// from the beginning of the epoch.
  std::shared_ptr<LiveOrder> order{};
  /// As ChainDescription's, where memory allows. False: every block begins with an empty queue, and
  /// all of a round serve the same samples.
  bool keep_queues = true;
};

/// Owns executor, caches and streams; shares device and step. One thread at a time. open_job()
/// makes one from a pipeline's spec. Every arm is supported except two: `shadow` without workers,
/// because then the training thread itself loads and nothing can run alongside the step; `live`
/// with overrides if there is no ReplayOptions::rebuild. The step runs with denormal numbers
/// flushed to zero, as stages do.
class CACHEBISECT_API PipelineReplayer final : public Replayer {
 public:
  PipelineReplayer(Pipeline pipeline, std::shared_ptr<Device> device,
                   std::shared_ptr<TrainStep> step, const ReplayOptions& options = {});
  ~PipelineReplayer() override;

  [[nodiscard]] ChainDescription describe() const override;
  [[nodiscard]] bool supports(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  bool freshen(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  /// Makes some of the next live samples. Of a source that reads from servers, or over emulated
  /// storage, requests are counted; of any other, what the process reads from files meanwhile.
  /// Empty if nothing is read, or runs of samples are read from files.
  std::optional<StorageCounts> count_storage(const StorageRequest& request,
                                             const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override;
  /// From now on `observer` follows the training loop of every block; null removes the observer.
  /// It must outlive the blocks.
  void observe(LoopObserver* observer) noexcept;
  /// From now on `recorder`, of as many workers, records what they do in every block; null: nothing
  /// is recorded. It must outlive the blocks.
  void record(LoadRecorder* recorder) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect

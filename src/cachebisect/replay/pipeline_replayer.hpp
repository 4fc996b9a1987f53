// Replays a real pipeline: live, or from the cache of any boundary, with real training steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// How boundary 0 reads: the next samples of the epoch as storage gives them, the cached samples
/// again, or the next samples evicted from memory before each block.
enum class IoMode { as_is, warm, cold };
/// Of "as-is", "warm" or "cold". Throws Error(usage) for another word.
CACHEBISECT_API IoMode io_mode_of(const std::string& name);

/// The pipeline after overrides.
struct PipelineVariant {
  Pipeline pipeline;
  std::shared_ptr<TrainStep> step{};  ///< none: the present one
  std::shared_ptr<Device> device{};   ///< none: the present one
};

/// Overrides as `--set` takes them: path -> JSON value, else a string.
using Overrides = std::map<std::string, std::string>;

struct ReplayOptions {
  IoMode io = IoMode::as_is;
  std::optional<int> workers;  ///< resolved; none: the pipeline's own, "auto" resolved here
  /// Makes the pipeline anew with these overrides, for live arms that have some. Throws
  /// Error(usage) naming the path that is wrong. Empty: such arms are not supported.
  std::function<PipelineVariant(const Overrides& overrides)> rebuild{};
};

/// Owns executor, caches and streams; keeps references to device and step. One thread at a time.
/// Every arm is supported but these: `shadow` without workers, because then the training thread
/// itself loads and nothing can run beside the step; `live` with overrides without
/// ReplayOptions::rebuild. The step runs with denormal numbers flushed to zero, as stages do.
class CACHEBISECT_API PipelineReplayer final : public Replayer {
 public:
  PipelineReplayer(Pipeline pipeline, std::shared_ptr<Device> device,
                   std::shared_ptr<TrainStep> step, const ReplayOptions& options = {});
  ~PipelineReplayer() override;

  [[nodiscard]] ChainDescription describe() const override;
  [[nodiscard]] bool supports(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The device that a spec asks for: "auto" is CUDA when there is one; "emulated" takes `emulate`.
/// Throws Error(device) saying what was found.
CACHEBISECT_API std::shared_ptr<Device> make_device(const PipelineSpec& spec);
/// The step that a spec asks for on that device. `workers` decides the default of train.threads.
CACHEBISECT_API std::shared_ptr<TrainStep> make_train_step(const Pipeline& pipeline, Device& device,
                                                           int workers, const Registry& registry);
/// "auto": tried on the live pipeline without the step, the smallest count within 3% of the best.
CACHEBISECT_API int resolve_workers(const Pipeline& pipeline, Device& device);

}  // namespace cachebisect

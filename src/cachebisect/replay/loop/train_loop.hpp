// The training loop of one block: w untimed steps, then N timed by the device's own completion.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"
#include "cachebisect/replay/loop/step_source.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

class LoopObserver;

/// Steps of one block.
struct BlockSteps {
  int warmup = 2;                    ///< untimed, at least 1
  int timed = 8;                     ///< at least 1
  std::uint64_t first_step = 0;      ///< StepContext::index of the first
  bool observe = true;               ///< the copy and the device stages are timed
  int groups = 1;                    ///< of timed steps, timed one by one
  double max_seconds = 0;            ///< ends after the group in which they have passed; 0: never
  LoopObserver* observer = nullptr;  ///< follows the block; may be null
};

/// What one block took. Seconds; of the timed steps unless a comment says otherwise.
struct BlockTiming {
  double seconds = 0;  ///< completion of the last timed step minus that of the last untimed one
  int steps = 0;       ///< timed steps that ran
  std::uint64_t samples = 0;
  std::vector<double> group_taus{};       ///< seconds per sample by group; empty for one group
  double cpu_seconds = 0;                 ///< of the process, between those two completions
  double starved_seconds = 0;             ///< the training thread waited for the loader
  double trainer_seconds = 0;             ///< it waited neither for the loader nor for the device
  std::optional<double> ready_batches{};  ///< mean number ready in the ring when a step began
  /// Share of the steps at whose submission the device had completed the one before; only on CUDA.
  std::optional<double> device_idle_share{};
  double first_batch_seconds = 0;  ///< from the block's start to its first batch
  double padding_share = 0;        ///< mean
  /// The times of the copy and of each device stage, over all steps; empty when not observed.
  std::vector<DeviceTime> device_stages{};
};

/// Queues steps as far ahead as the device buffers allow (max(3, copy.prefetch + 1)) and sleeps
/// until one frees; waits for a step only if `sync_every` asks for it, and then spins if
/// train.spin says so. One thread at a time.
class CACHEBISECT_INTERNAL_API TrainLoop {
 public:
  /// Keeps references to all, which must outlive it. sync_every 0: never. Throws as
  /// check_device_buffers() does.
  TrainLoop(const Pipeline& pipeline, Device& device, TrainStep& step, const CopyOptions& copy,
            int sync_every);
  ~TrainLoop();
  TrainLoop(const TrainLoop&) = delete;
  TrainLoop& operator=(const TrainLoop&) = delete;

  /// Throws what loader and step throw; Error(interrupted) on `stop`. Call drain() after an error.
  /// Loaders may differ from block to block.
  BlockTiming run(const StepSource& source, const BlockSteps& steps, const std::stop_token& stop);
  /// After an error, before any loop of the device runs: waits until what was queued is done. The
  /// emulated device forgets it.
  void drain();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect

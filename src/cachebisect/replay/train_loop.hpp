// The training loop of one block: w untimed steps, then N timed by the device's own completion.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Steps of one block.
struct BlockSteps {
  int warmup = 2;                ///< untimed, at least 1
  int timed = 8;                 ///< at least 1
  std::uint64_t first_step = 0;  ///< StepContext::index of the first
};

/// What one block took. Seconds.
struct BlockTiming {
  double seconds = 0;  ///< completion of the last timed step minus that of the last untimed one
  std::uint64_t samples = 0;       ///< of the timed steps
  double cpu_seconds = 0;          ///< of the process, between those two completions
  double starved_seconds = 0;      ///< the training thread waited for the loader, timed steps only
  double first_batch_seconds = 0;  ///< from the block's start to its first batch
  double padding_share = 0;        ///< mean over the timed steps
};

/// Queues steps as far ahead as the device buffers allow (max(3, copy.prefetch + 1)) and sleeps
/// until one frees; waits for a step only where `sync_every` asks for it. One thread at a time.
class CACHEBISECT_API TrainLoop {
 public:
  /// Keeps references to all, which must outlive it. sync_every 0: never.
  TrainLoop(const Pipeline& pipeline, Device& device, TrainStep& step, const CopyOptions& copy,
            int sync_every);
  ~TrainLoop();
  TrainLoop(const TrainLoop&) = delete;
  TrainLoop& operator=(const TrainLoop&) = delete;

  /// Batches come from `loader`, which has been started and is halted afterwards by the caller.
  /// Throws what loader and step throw; Error(interrupted) on `stop`. Call drain() after an error.
  BlockTiming run(Executor& loader, const BlockSteps& steps, const std::stop_token& stop);
  /// Batches are cached output of boundary `boundary`, which lies on the device;
  /// batches[first % size] is the first.
  BlockTiming run(std::span<const DeviceBatch> batches, std::size_t boundary, std::uint64_t first,
                  const BlockSteps& steps, const std::stop_token& stop);
  /// Waits until the device has done all that was queued.
  void drain();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect

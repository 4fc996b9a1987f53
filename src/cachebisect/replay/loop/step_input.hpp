// What each step of a block trains on: live batches, cached ones, or cached ones while live ones
// are loaded and dropped.
#pragma once

#include <cstdint>
#include <stop_token>

#include "cachebisect/replay/loop/device_chain.hpp"
#include "cachebisect/replay/loop/device_feed.hpp"
#include "cachebisect/replay/loop/step_source.hpp"

namespace cachebisect {

/// The input of one block. Called only by the training thread.
class StepInput {
 public:
  /// Keeps references to all. `feed` takes the loader's batches; null without a loader.
  StepInput(const Pipeline& pipeline, const StepSource& source, DeviceFeed* feed,
            DeviceChain& chain, Stream& compute);

  void begin(std::uint64_t steps, LoopObserver* observer);
  /// The batch of step `step`, its device stages queued on the compute stream.
  const DeviceBatch& acquire(std::uint64_t step, const std::stop_token& stop);
  void submitted(std::uint64_t step);
  [[nodiscard]] double starved_seconds() const noexcept;
  /// Batches ready in the ring now; empty without workers.
  [[nodiscard]] std::optional<int> ready() const noexcept;

 private:
  const StepSource* source_;
  DeviceFeed* feed_;
  DeviceChain* chain_;
  Stream* compute_;
  std::size_t after_copy_;  ///< boundary
  std::size_t last_;        ///< boundary
};

}  // namespace cachebisect

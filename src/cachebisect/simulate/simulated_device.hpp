// The accelerator of a simulated run: copies and steps, each in order on a timeline of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cachebisect/simulate/ring_run.hpp"
#include "cachebisect/simulate/ring_state.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect {

/// Times are seconds of the run. Not thread safe.
class SimulatedDevice {
 public:
  /// Keeps a reference to `chain`.
  SimulatedDevice(const SimulatedChain& chain, const RingRequest& request);

  /// When a step wanted at `time` may be submitted: it needs a free device buffer.
  [[nodiscard]] double may_submit(double time) const;
  /// Submits a batch's copy. Returns when it ends: at once if the batch is on the device already.
  double copy(double time);
  /// Submits the next step, whose input is ready at `time`. Returns when it ends, which is not
  /// before `trainer_end`, the end of the training thread's own part of it.
  double step(double time, double trainer_end);

  /// Everything that decides what happens next, with times from `now`.
  void append_state(double now, RingState& state) const;
  /// Adds the steps and the copy stage's counters.
  void append_results(RingRun& run) const;

  [[nodiscard]] std::size_t steps() const noexcept { return step_ends_.size(); }

 private:
  [[nodiscard]] std::size_t period() const { return static_cast<std::size_t>(chain_.step_period); }
  [[nodiscard]] double last_step() const { return step_ends_.empty() ? 0 : step_ends_.back(); }

  const SimulatedChain& chain_;
  std::size_t buffers_;
  bool copies_;  ///< false: batches are on the device already, or copying them is free
  double copy_end_ = 0;
  double copy_busy_ = 0;
  std::uint64_t copied_batches_ = 0;
  std::vector<double> step_ends_;
};

}  // namespace cachebisect

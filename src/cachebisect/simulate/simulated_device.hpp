// The accelerator of a simulated run: copies and steps, each in order on a timeline of its own.
#pragma once

#include <vector>

#include "cachebisect/simulate/cycle_search.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect {

/// Times are seconds of the run. Not thread safe.
class SimulatedDevice {
 public:
  /// Keeps a reference to `chain`.
  SimulatedDevice(const SimulatedChain& chain, const RingRequest& request);

  /// When the next step may be submitted that is wanted at `time`: a device buffer must be free.
  [[nodiscard]] double may_submit(double time) const;
  /// Submits a batch's copy; when it ends. No time at all where the batch is there already.
  double copy(double time);
  /// Submits the next step, which reads what is ready at `time` and ends no sooner than the
  /// training thread's own part of it.
  double step(double time, double trainer_end);

  /// All that decides what happens next, times counted from `now`.
  void append_state(double now, RingState& state) const;

  [[nodiscard]] const std::vector<double>& step_ends() const noexcept { return step_ends_; }
  [[nodiscard]] double copy_busy_seconds() const noexcept { return copy_busy_; }
  [[nodiscard]] std::uint64_t copies() const noexcept { return copies_; }

 private:
  [[nodiscard]] double last_step() const { return step_ends_.empty() ? 0 : step_ends_.back(); }

  const SimulatedChain& chain_;
  std::size_t buffers_;
  bool copies_cost_;
  double copy_end_ = 0;
  double copy_busy_ = 0;
  std::uint64_t copies_ = 0;
  std::vector<double> step_ends_;
};

}  // namespace cachebisect

// The run of one arm whose blocks each go on where the last one ended.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect {

/// Steps count from 0 since the ring was empty. Not thread safe.
class CACHEBISECT_INTERNAL_API KeptRun {
 public:
  /// Keeps a reference to `ring`. `request`: of its first step; RingRequest::steps is ignored.
  KeptRun(const SimulatedRing& ring, RingRequest request)
      : ring_(&ring), request_(std::move(request)) {}

  /// Takes the next `steps` steps and returns the number of the first.
  std::size_t take(int steps);
  /// The steps that are taken from now on find other samples in the cache.
  void refill(std::uint64_t first_cached, std::uint64_t samples);
  /// True before the first take().
  [[nodiscard]] bool is_new() const noexcept { return taken_ == 0; }
  /// Seconds until the end of a step that was taken, and as RingRun has them by step.
  [[nodiscard]] double end(std::size_t step) const { return at(run_.step_ends, step); }
  [[nodiscard]] double starved(std::size_t step) const { return at(run_.starved_by, step); }
  [[nodiscard]] double trainer(std::size_t step) const { return at(run_.trainer_by, step); }
  [[nodiscard]] double cpu(std::size_t step) const { return at(run_.cpu_by, step); }
  /// The whole run that was simulated, whose sums hold for as many steps as it has ends.
  [[nodiscard]] const RingRun& whole() const noexcept { return run_; }

 private:
  /// The steps of the last cycle repeat.
  [[nodiscard]] double at(const std::vector<double>& by_step, std::size_t step) const;

  const SimulatedRing* ring_;
  RingRequest request_;
  RingRun run_;
  std::size_t taken_ = 0;
  bool outdated_ = false;  ///< the run was simulated beyond a refill
};

}  // namespace cachebisect

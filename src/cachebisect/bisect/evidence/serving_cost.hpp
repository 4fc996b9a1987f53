// What serving from the caches costs a sample at each boundary (rho_k): looking it up, and, before
// collate, copying it into the batch slot, which a live stage writes without a copy.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Seconds are worker seconds of one sample. Not thread safe.
class CACHEBISECT_API ServingCost {
 public:
  explicit ServingCost(const ChainDescription& chain);

  /// What a look at cached samples took when the caches were filled, by boundary.
  void set_lookup(std::vector<double> seconds);
  /// Takes what a replay's block says of writing into slots; other arms say nothing of it.
  void add(const Arm& arm, const BlockResult& block);
  /// By boundary 0..n; empty where no lookup is known.
  [[nodiscard]] const std::vector<double>& seconds_per_sample() const noexcept { return total_; }

 private:
  int before_collate_ = 0;  ///< boundary; 0: none
  std::vector<double> lookup_;
  std::vector<double> total_;
  double write_seconds_ = 0;
  double writes_ = 0;
};

}  // namespace cachebisect

// What the stages of a simulated chain cost, sample by sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/jitter.hpp"
#include "cachebisect/simulate/ring_run.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect {

/// Immutable, so thread safe.
class CACHEBISECT_INTERNAL_API StageCosts {
 public:
  /// Throws Error(usage) for a chain that cannot run.
  explicit StageCosts(SimulatedChain chain);

  [[nodiscard]] const SimulatedChain& chain() const noexcept { return chain_; }
  /// True if every sample of a stage costs the same.
  [[nodiscard]] bool constant() const noexcept { return constant_; }
  /// False if a stage has a factor of its own, so that costs may never repeat.
  [[nodiscard]] bool periodic() const noexcept { return periodic_; }
  /// Seconds of a stage (0-based, of chain().stages) for sample `position` of a run.
  [[nodiscard]] double stage_seconds(std::size_t stage, const RingRequest& request,
                                     std::int64_t position) const {
    if (static_cast<int>(stage) + 1 == request.bypass) return chain_.serve_seconds;
    const double seconds = chain_.stages[stage].seconds * cost_factor(stage, request);
    if (constant_) return seconds;
    std::uint64_t index = request.first_index + static_cast<std::uint64_t>(position);
    if (request.cache_samples > 0) {
      const CacheFill fill = fill_at(request, position);
      index = fill.first_cached + index % fill.samples;
    }
    if (const auto& factor = chain_.stages[stage].factor) return seconds * factor(index);
    return seconds * jitter_[stage].factor(index + jitter_offsets_[stage]);
  }
  /// Seconds of collate for a whole batch of that run.
  [[nodiscard]] double collate_seconds(const RingRequest& request) const noexcept;

 private:
  [[nodiscard]] static CacheFill fill_at(const RingRequest& request, std::int64_t position) {
    const auto& fills = request.later_fills;
    const auto last = std::find_if(fills.rbegin(), fills.rend(),
                                   [&](const CacheFill& fill) { return fill.from <= position; });
    return last != fills.rend() ? *last : CacheFill{0, request.first_cached, request.cache_samples};
  }
  [[nodiscard]] double cost_factor(std::size_t stage, const RingRequest& request) const {
    const SimulatedStage& cost = chain_.stages[stage];
    const bool contended = request.boundary < static_cast<int>(stage);
    return (contended ? cost.contended_factor : 1) * (request.seen ? cost.seen_factor : 1);
  }

  SimulatedChain chain_;
  std::vector<JitterSequence> jitter_;         ///< by stage
  std::vector<std::uint64_t> jitter_offsets_;  ///< by stage: position of sample 0 in its sequence
  bool constant_ = true;
  bool periodic_ = true;
};

}  // namespace cachebisect

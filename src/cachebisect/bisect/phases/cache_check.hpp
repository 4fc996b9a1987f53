// Whether the caches are large enough: the same boundary served from K samples and from 2K, in
// alternating blocks. A cache that fits into the processor's own serves faster than training reads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/arm_rounds.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The boundary to check: that of the named stage (1-based) if it is held on the host, else the
/// last one before it that is; empty if there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<int> boundary_to_check(
    const ChainDescription& chain, int stage);

/// True if filling 2K samples is expected to take less than a quarter of what is left.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool can_afford_larger_cache(const CacheFacts& facts,
                                                                    double seconds_left);

/// The replay from the first `samples` cached samples, and from all of them.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<TimedArm> cache_arms(int boundary,
                                                                        std::uint64_t samples,
                                                                        double step_seconds);

/// Relative change of the seconds per sample from K to 2K; empty without a complete round.
/// `rounds`: of cache_arms().
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate cache_change(const RoundTable& rounds,
                                                             double alpha);

/// Enough when the change is known to lie within kNegligible, or beyond it.
class CACHEBISECT_INTERNAL_API CacheRule final : public StoppingRule {
 public:
  explicit CacheRule(double alpha) : alpha_(alpha) {}
  [[nodiscard]] bool enough(const RoundTable& rounds) const override;

 private:
  double alpha_;
};

}  // namespace cachebisect

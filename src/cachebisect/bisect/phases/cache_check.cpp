#include "cachebisect/bisect/phases/cache_check.hpp"

#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

constexpr int kSmall = 0;
constexpr int kLarge = 1;

}  // namespace

std::optional<int> boundary_to_check(const ChainDescription& chain, int stage) {
  for (int k = stage; k > 0; --k) {
    if (chain.stages.at(static_cast<std::size_t>(k) - 1).held == Held::host) return k;
  }
  return std::nullopt;
}

bool can_afford_larger_cache(const CacheFacts& facts, double seconds_left) {
  return facts.samples > 0 && 2 * facts.seconds < kShareToPrepare * seconds_left;
}

std::vector<TimedArm> cache_arms(int boundary, std::uint64_t samples, double step_seconds) {
  return {{{.boundary = boundary, .cache_samples = samples}, step_seconds},
          {{.boundary = boundary}, step_seconds}};
}

Estimate cache_change(const RoundTable& rounds, double alpha) {
  if (rounds.rounds() == 0) return {};
  return change_of(log_ratio(rounds, kLarge, kSmall, alpha));
}

bool CacheRule::enough(const RoundTable& rounds) const {
  const auto interval = cache_change(rounds, alpha_).interval;
  if (!interval) return false;
  const bool within = interval->low > -kNegligible && interval->high < kNegligible;
  const bool beyond = interval->low > kNegligible || interval->high < -kNegligible;
  return within || beyond;
}

}  // namespace cachebisect

#include "cachebisect/bisect/explain/cache_check.hpp"

#include <cmath>

namespace cachebisect {
namespace {

constexpr std::size_t kMostRounds = 16;
constexpr double kFillShare = 0.25;
constexpr std::size_t kSmall = 0;
constexpr std::size_t kLarge = 1;

}  // namespace

std::optional<int> boundary_to_check(const ChainDescription& chain, int stage) {
  for (int k = stage; k > 0; --k) {
    if (chain.stages.at(static_cast<std::size_t>(k) - 1).held == Held::host) return k;
  }
  return std::nullopt;
}

CacheCheck::CacheCheck(Replayer& replayer, BlockRunner& runner, const Plan& plan, int boundary,
                       const CacheFacts& facts, double confidence)
    : replayer_(&replayer),
      runner_(&runner),
      plan_(&plan),
      boundary_(boundary),
      samples_(facts.samples),
      expected_fill_seconds_(2 * facts.seconds),
      alpha_(1 - confidence),
      table_({{.boundary = boundary, .cache_samples = facts.samples}, {.boundary = boundary}}) {}

bool CacheCheck::affordable() const {
  return samples_ > 0 && expected_fill_seconds_ < kFillShare * runner_->left();
}

bool CacheCheck::fill(const std::stop_token& stop) {
  const double before = runner_->clock();
  const bool filled = replayer_->refill(2 * samples_, stop).has_value();
  fill_seconds_ = runner_->leave_out_since(before);
  return filled;
}

bool CacheCheck::round(int number, RandomStream& random) {
  table_.discard();
  if (table_.rounds() >= kMostRounds || known()) return false;
  if (2 * plan_->block_seconds(boundary_) > runner_->left()) return false;
  runner_->begin_round(number);
  const std::size_t first = random.below(2);
  for (const std::size_t arm : {first, 1 - first}) {
    table_.add(arm, runner_->run(table_.arms()[arm], plan_->draw_warmup(boundary_, random),
                                 plan_->steps(boundary_)));
  }
  table_.commit();
  return true;
}

Estimate CacheCheck::change() const {
  Estimate change;
  if (table_.rounds() == 0) return change;
  const LogRatio ratio = table_.log_ratio(kLarge, kSmall, alpha_);
  change.value = std::expm1(ratio.value);
  if (ratio.interval) {
    change.interval = Interval{std::expm1(ratio.interval->low), std::expm1(ratio.interval->high)};
  }
  return change;
}

bool CacheCheck::known() const {
  const auto interval = change().interval;
  if (!interval) return false;
  const bool within = interval->low > -kCacheChange && interval->high < kCacheChange;
  const bool beyond = interval->low > kCacheChange || interval->high < -kCacheChange;
  return within || beyond;
}

}  // namespace cachebisect

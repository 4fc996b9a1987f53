#include "cachebisect/simulate/cycle_search.hpp"

#include <utility>

namespace cachebisect {
namespace {

constexpr double kRounding = 1e-8;  ///< difference of two equal states, as a share of a step's time

}  // namespace

RingState& CycleSearch::next() {
  state_.clear();
  return state_;
}

std::optional<std::size_t> CycleSearch::recurs(std::size_t steps, double now) {
  const double tolerance = kRounding * (now - kept_at_) / static_cast<double>(1 + since_kept_);
  if (++since_kept_ <= keep_for_ && state_.equals(kept_, tolerance)) return steps - kept_steps_;
  if (since_kept_ == keep_for_) {
    std::swap(kept_, state_);
    kept_at_ = now;
    kept_steps_ = steps;
    since_kept_ = 0;
    keep_for_ *= 2;
  }
  return std::nullopt;
}

}  // namespace cachebisect

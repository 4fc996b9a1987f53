#include "cachebisect/simulate/kept_run.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

/// Steps of the first simulation; each next one has twice as many.
constexpr std::size_t kFirstSteps = 64;

}  // namespace

std::size_t KeptRun::take(int steps) {
  const std::size_t first = taken_;
  taken_ += static_cast<std::size_t>(steps);
  std::size_t wanted = std::max(kFirstSteps, run_.step_ends.size());
  while (wanted < taken_) wanted *= 2;
  if (outdated_ || (run_.cycle_steps == 0 && run_.step_ends.size() < wanted)) {
    request_.steps = static_cast<int>(wanted);
    run_ = ring_->run_to_cycle(request_);
    outdated_ = false;
  }
  return first;
}

void KeptRun::refill(std::uint64_t first_cached, std::uint64_t samples) {
  if (request_.cache_samples == 0) return;
  const auto batch = static_cast<std::uint64_t>(ring_->chain().batch_size);
  request_.later_fills.push_back(
      {static_cast<std::int64_t>(taken_ * batch), first_cached, samples});
  outdated_ = true;
}

double KeptRun::at(const std::vector<double>& by_step, std::size_t step) const {
  const std::size_t known = by_step.size();
  if (step < known) return by_step[step];
  const std::size_t cycle = run_.cycle_steps;
  const std::size_t cycles = (step - known) / cycle + 1;
  const double before = known > cycle ? by_step[known - 1 - cycle] : 0;
  return by_step[step - cycles * cycle] +
         static_cast<double>(cycles) * (by_step[known - 1] - before);
}

}  // namespace cachebisect

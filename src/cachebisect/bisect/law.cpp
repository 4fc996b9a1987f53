#include "cachebisect/bisect/law.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace cachebisect {
namespace {

/// What a sample costs each server; the slowest sets the pace.
std::array<double, 5> servers(const LawInput& in) noexcept {
  const double load =
      in.serve_seconds + std::accumulate(in.live_seconds.begin(), in.live_seconds.end(), 0.0);
  const double trainer = in.trainer_seconds + (in.copy_blocks ? in.copy_seconds : 0);
  const double device = in.copy_overlaps ? std::max(in.copy_seconds, in.step_seconds)
                                         : in.copy_seconds + in.step_seconds;
  const double host = in.workers > 0 ? std::max(load / in.workers, trainer) : load + trainer;
  return {host, device, in.cpu_seconds / std::max(in.cores, 1e-9), in.serial_seconds,
          in.memory_seconds};
}

}  // namespace

double predicted_seconds_per_sample(const LawInput& input) noexcept {
  const auto costs = servers(input);
  return *std::max_element(costs.begin(), costs.end());
}

double law_margin(const LawInput& input) noexcept {
  auto costs = servers(input);
  std::sort(costs.begin(), costs.end());
  const double next = costs[costs.size() - 2];
  return next > 0 ? costs.back() / next : 1e9;
}

}  // namespace cachebisect

#include "cachebisect/bisect/costs/turns.hpp"

#include <algorithm>
#include <numeric>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// How much longer than the step loading must take, on as many cores as it can use, until the step
/// waits for it: by a simulation of a fair scheduler, in which each worker has half a core while
/// the step runs. Where workers and cores differ in number, it takes more.
constexpr double kStarves = 1.3;

/// Measured on two cores: 10% for steps of 8 ms, more for shorter ones.
constexpr double kLostToSwitches = 0.15;

double seconds_of_worker(const Demands& in) {
  return std::accumulate(in.live_seconds.begin(), in.live_seconds.end(), in.serve_seconds);
}

/// True if a training thread that computes and workers need more cores than there are.
bool takes_turns(const Demands& in) {
  const bool enough = in.workers < 1 || in.workers + in.trainer_threads <= in.cores;
  return !enough && in.trainer_seconds >= kBusyTrainer * predicted_seconds_per_sample(in);
}

/// Loading at the same time, on all cores.
double side_by_side(const Demands& in, double computed) {
  return std::max(computed / in.cores, seconds_of_worker(in) / in.workers);
}

/// Next to a step with threads that wait for each other.
double next_to_threads(const Demands& in) {
  const double computed = std::max(0.0, in.cpu_seconds - in.trainer_cpu_seconds);
  const double used = std::min<double>(in.workers, in.cores);
  const double unused = in.cores / in.workers;
  const double uneven = std::max(in.workers / in.cores, unused * unused);
  const bool starves = computed / used > kStarves * uneven * in.trainer_seconds;
  return starves ? side_by_side(in, computed) : computed;
}

}  // namespace

double seconds_in_turns(const Demands& in) {
  const double tau = predicted_seconds_per_sample(in);
  if (!takes_turns(in)) return tau;
  const double computed = std::max(0.0, in.cpu_seconds - in.trainer_seconds);
  const double loading = in.trainer_threads > 1 ? next_to_threads(in) : side_by_side(in, computed);
  return std::max(tau, in.trainer_seconds + loading);
}

double share_lost_to_switches(const Demands& in) {
  return in.trainer_threads > 1 && takes_turns(in) ? kLostToSwitches : 0;
}

double share_in_turns(const CostModel& costs, double samples_per_second) {
  if (costs.workers == 0) return costs.trainer_threads > 1 ? 1 : 0;
  const Demands in = demands_of(costs);
  const double least = predicted_seconds_per_sample(in);
  const double most = seconds_in_turns(in);
  if (most < (1 + kNegligible) * least) return 0;
  return std::clamp((1 / samples_per_second - least) / (most - least), 0.0, 1.0);
}

}  // namespace cachebisect

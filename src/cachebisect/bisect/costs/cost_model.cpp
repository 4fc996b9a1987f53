#include "cachebisect/bisect/costs/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cachebisect {
namespace {

double factor_of(const CostChanges& changes, std::size_t stage) {
  double factor = 1;
  for (const CostScale& scale : changes.stages) {
    if (scale.stage == stage) factor *= scale.factor;
  }
  return factor;
}

/// The stage with the most seconds of a kind; empty if `other` is more than each of them.
std::string most(const CostModel& costs, const CostChanges& changes, std::size_t from,
                 const std::function<double(const StageCost&)>& seconds, double other = 0) {
  std::string name;
  double largest = other;
  for (std::size_t s = from; s < costs.stages.size(); ++s) {
    const double own = factor_of(changes, s) * seconds(costs.stages[s]);
    if (own <= largest) continue;
    largest = own;
    name = costs.stages[s].name;
  }
  return name;
}

std::string dominating(const CostModel& costs, const CostChanges& changes, std::size_t from,
                       Server server) {
  const double step = changes.step_factor * costs.step_seconds;
  const double trainer = changes.step_factor * costs.trainer_seconds;
  const auto device = [](const StageCost& c) { return c.device_seconds; };
  const auto on_trainer = [](const StageCost& c) { return c.device_seconds + c.trainer_seconds; };
  switch (server) {
    case Server::workers:
      return most(costs, changes, from, [](const StageCost& c) { return c.worker_seconds; });
    case Server::memory:
      return most(costs, changes, from, [](const StageCost& c) { return c.shared_seconds; });
    case Server::training_thread:
      if (costs.workers > 0) return most(costs, changes, from, on_trainer, trainer);
      return most(
          costs, changes, from, [](const StageCost& c) { return c.worker_seconds; }, trainer);
    case Server::step:
      return most(costs, changes, from, device, step);
    case Server::copy:
      return most(costs, changes, from, [](const StageCost& c) { return c.copy_seconds; });
    case Server::cpu:
      return most(
          costs, changes, from, [](const StageCost& c) { return c.cpu_seconds; },
          changes.step_factor * costs.trainer_cpu_seconds);
    case Server::lock:
      return most(costs, changes, from, [](const StageCost& c) { return c.serial_seconds; });
  }
  return {};
}

}  // namespace

Demands demands_of(const CostModel& costs, const CostChanges& changes, int boundary) {
  const auto from = static_cast<std::size_t>(boundary);
  Demands in;
  in.workers = changes.workers.value_or(costs.workers);
  in.cores = costs.cores;
  in.trainer_seconds = changes.step_factor * costs.trainer_seconds;
  in.trainer_threads = costs.trainer_threads;
  in.step_seconds = changes.step_factor * costs.step_seconds;
  in.cpu_seconds = changes.step_factor * costs.trainer_cpu_seconds;
  in.copy_overlaps = costs.copy_overlaps || changes.copy_overlaps;
  in.copy_blocks = costs.copy_blocks && !changes.copy_overlaps;
  bool loads = false;
  for (std::size_t s = from; s < costs.stages.size(); ++s) {
    const double factor = factor_of(changes, s);
    const StageCost& stage = costs.stages[s];
    in.live_seconds.push_back(factor * stage.worker_seconds);
    in.cpu_seconds += factor * stage.cpu_seconds;
    in.serial_seconds = std::max(in.serial_seconds, factor * stage.serial_seconds);
    in.memory_seconds += factor * stage.shared_seconds;
    in.copy_seconds += factor * stage.copy_seconds;
    in.trainer_seconds += factor * stage.trainer_seconds;
    (costs.device_is_host ? in.trainer_seconds : in.step_seconds) += factor * stage.device_seconds;
    loads = loads || stage.worker_seconds > 0;
  }
  if (from < costs.serve_seconds.size()) in.serve_seconds = costs.serve_seconds[from];
  if (loads) in.serve_seconds += costs.load_floor_seconds;
  in.serve_seconds += changes.added_seconds;
  in.cpu_seconds += in.serve_seconds;
  return in;
}

double predict(const CostModel& costs, const CostChanges& changes, int boundary) {
  return 1 / std::max(predicted_seconds_per_sample(demands_of(costs, changes, boundary)), 1e-12);
}

Limit limit_of(const CostModel& costs, const CostChanges& changes, int boundary) {
  const Demands demands = demands_of(costs, changes, boundary);
  const Server server = limiting_server(demands);
  return {server, dominating(costs, changes, static_cast<std::size_t>(boundary), server),
          predict(costs, changes, boundary), law_margin(demands)};
}

Misfit misfit_of(const CostModel& costs, const PacedTaus& measured) {
  Misfit result;
  for (std::size_t k = 0; k < measured.seconds.size(); ++k) {
    if (!measured.seconds[k]) continue;
    const double off = std::abs(predict(costs, {}, static_cast<int>(k)) * *measured.seconds[k] - 1);
    result.worst = std::max(result.worst, off);
    if (k == 0) result.live = off;
    result.ceiling = off;
  }
  return result;
}

}  // namespace cachebisect

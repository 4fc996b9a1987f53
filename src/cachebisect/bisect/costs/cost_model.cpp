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

/// What the thread that loads takes with less waiting, before the stage's own factor.
double worker_seconds(const StageCost& cost, const CostChanges& changes, std::size_t stage) {
  double waiting = 1;
  for (const CostScale& scale : changes.stages) {
    if (scale.stage == stage) waiting *= scale.waiting;
  }
  return cost.worker_seconds -
         (1 - waiting) * std::max(cost.worker_seconds - cost.cpu_seconds, 0.0);
}

/// Seconds of a thread on the host, so many of them computing, on a core of another speed.
double on_core(const CostChanges& changes, double seconds, double computing) {
  if (!changes.machine) return seconds;
  return seconds - std::min(seconds, computing) * (1 - 1 / changes.machine->core_speed);
}

double on_core(const CostChanges& changes, double computing) {
  return on_core(changes, computing, computing);
}

double on_device(const CostChanges& changes, double seconds) {
  return changes.machine ? seconds / changes.machine->device_speed : seconds;
}

/// What a sample takes a worker, over what it takes in one thread.
double factor_of_threads(const CostModel& costs, const CostChanges& changes) {
  if (!changes.threads) return 1;
  double seconds = 0;
  double computing = 0;
  for (std::size_t s = 0; s < std::min(changes.threads->stages, costs.stages.size()); ++s) {
    seconds += factor_of(changes, s) * worker_seconds(costs.stages[s], changes, s);
    computing += factor_of(changes, s) * costs.stages[s].cpu_seconds;
  }
  if (!(seconds > 0)) return 1;
  computing = std::min(computing, seconds);
  const double count = changes.threads->count;
  const double then = changes.threads->overlap ? std::max(computing, seconds / count)
                                               : computing + (seconds - computing) / count;
  return then / seconds;
}

/// The stage with the most seconds of a kind; empty if `other` is more than each of them.
std::string most(const CostModel& costs, const CostChanges& changes, std::size_t from,
                 const std::function<double(const StageCost&)>& seconds, double other = 0) {
  std::string name;
  double largest = other;
  for (std::size_t s = from; s < costs.stages.size(); ++s) {
    StageCost cost = costs.stages[s];
    cost.worker_seconds = worker_seconds(cost, changes, s);
    const double own = factor_of(changes, s) * seconds(cost);
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
  const auto on_worker = [&changes](const StageCost& c) {
    return on_core(changes, c.worker_seconds, c.cpu_seconds);
  };
  const auto device = [](const StageCost& c) { return c.device_seconds; };
  const auto on_trainer = [](const StageCost& c) { return c.device_seconds + c.trainer_seconds; };
  switch (server) {
    case Server::workers:
      return most(costs, changes, from, on_worker);
    case Server::memory:
      return most(costs, changes, from, [](const StageCost& c) { return c.shared_seconds; });
    case Server::training_thread:
      if (costs.workers > 0) return most(costs, changes, from, on_trainer, trainer);
      return most(costs, changes, from, on_worker, on_core(changes, trainer));
    case Server::step:
      return most(costs, changes, from, device, step);
    case Server::copy:
      return most(costs, changes, from, [](const StageCost& c) { return c.copy_seconds; });
    case Server::cpu:
      return most(
          costs, changes, from, [](const StageCost& c) { return c.cpu_seconds; },
          changes.step_factor * costs.trainer_cpu_seconds);
    case Server::lock:
      return most(costs, changes, from, [&changes](const StageCost& c) {
        return on_core(changes, c.serial_seconds, c.cpu_seconds);
      });
  }
  return {};
}

}  // namespace

Demands demands_of(const CostModel& costs, const CostChanges& changes, int boundary) {
  const auto from = static_cast<std::size_t>(boundary);
  Demands in;
  in.workers = changes.workers.value_or(costs.workers);
  in.cores = changes.machine ? changes.machine->cores : costs.cores;
  in.trainer_seconds = on_core(changes, changes.step_factor * costs.trainer_seconds);
  in.trainer_threads = costs.trainer_threads;
  in.step_seconds = on_device(changes, changes.step_factor * costs.step_seconds);
  in.trainer_cpu_seconds = on_core(changes, changes.step_factor * costs.trainer_cpu_seconds);
  in.cpu_seconds = in.trainer_cpu_seconds;
  in.copy_overlaps = costs.copy_overlaps || changes.copy_overlaps;
  in.copy_blocks = costs.copy_blocks && !changes.copy_overlaps;
  bool loads = false;
  const double threads = factor_of_threads(costs, changes);
  for (std::size_t s = from; s < costs.stages.size(); ++s) {
    const double factor = factor_of(changes, s);
    const StageCost& stage = costs.stages[s];
    const double computing = factor * stage.cpu_seconds;
    const bool threaded = changes.threads && s < changes.threads->stages;
    const double seconds = factor * worker_seconds(stage, changes, s);
    in.live_seconds.push_back(on_core(changes, seconds, computing) * (threaded ? threads : 1));
    in.cpu_seconds += on_core(changes, computing);
    in.serial_seconds =
        std::max(in.serial_seconds, on_core(changes, factor * stage.serial_seconds, computing));
    in.memory_seconds += factor * stage.shared_seconds;
    in.copy_seconds += factor * stage.copy_seconds;
    in.trainer_seconds += on_core(changes, factor * stage.trainer_seconds);
    if (costs.device_is_host) {
      in.trainer_seconds += on_core(changes, factor * stage.device_seconds);
    } else {
      in.step_seconds += on_device(changes, factor * stage.device_seconds);
    }
    loads = loads || stage.worker_seconds > 0;
  }
  if (from < costs.serve_seconds.size()) in.serve_seconds = costs.serve_seconds[from];
  if (loads) in.serve_seconds += costs.load_floor_seconds;
  in.serve_seconds = on_core(changes, in.serve_seconds);
  in.serve_seconds += changes.added_seconds;
  in.trainer_seconds += changes.received_seconds;
  in.trainer_cpu_seconds += changes.received_seconds;
  in.cpu_seconds += in.serve_seconds + changes.received_seconds;
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

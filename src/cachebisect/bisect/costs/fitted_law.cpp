#include "cachebisect/bisect/costs/fitted_law.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cachebisect {
namespace {

double factor_of(const LawChanges& changes, std::size_t stage) {
  double factor = 1;
  for (const CostScale& scale : changes.stages) {
    if (scale.stage == stage) factor *= scale.factor;
  }
  return factor;
}

/// The stage with the most of something, or none where `other` is more than each of them.
std::string most(const FittedLaw& law, const LawChanges& changes, std::size_t from,
                 const std::function<double(const StageCost&)>& seconds, double other = 0) {
  std::string name;
  double largest = other;
  for (std::size_t s = from; s < law.stages.size(); ++s) {
    const double own = factor_of(changes, s) * seconds(law.stages[s]);
    if (own <= largest) continue;
    largest = own;
    name = law.stages[s].name;
  }
  return name;
}

std::string dominating(const FittedLaw& law, const LawChanges& changes, std::size_t from,
                       Server server) {
  const double step = changes.step_factor * law.step_seconds;
  const double trainer = changes.step_factor * law.trainer_seconds;
  const auto device = [](const StageCost& c) { return c.device_seconds; };
  switch (server) {
    case Server::workers:
      return most(law, changes, from, [](const StageCost& c) { return c.worker_seconds; });
    case Server::memory:
      return most(law, changes, from, [](const StageCost& c) { return c.shared_seconds; });
    case Server::training_thread:
      if (law.workers > 0) return most(law, changes, from, device, trainer);
      return most(
          law, changes, from, [](const StageCost& c) { return c.worker_seconds; }, trainer);
    case Server::step:
      return most(law, changes, from, device, step);
    case Server::copy:
      return most(law, changes, from, [](const StageCost& c) { return c.copy_seconds; });
    case Server::cpu:
      return most(
          law, changes, from, [](const StageCost& c) { return c.cpu_seconds; },
          changes.step_factor * law.trainer_cpu_seconds);
    case Server::lock:
      return most(law, changes, from, [](const StageCost& c) { return c.serial_seconds; });
  }
  return {};
}

}  // namespace

LawInput law_input(const FittedLaw& law, const LawChanges& changes, int boundary) {
  const auto from = static_cast<std::size_t>(boundary);
  LawInput in;
  in.workers = changes.workers.value_or(law.workers);
  in.cores = law.cores;
  in.trainer_seconds = changes.step_factor * law.trainer_seconds;
  in.step_seconds = changes.step_factor * law.step_seconds;
  in.cpu_seconds = changes.step_factor * law.trainer_cpu_seconds;
  in.copy_overlaps = law.copy_overlaps || changes.copy_overlaps;
  in.copy_blocks = law.copy_blocks && !changes.copy_overlaps;
  bool loads = false;
  for (std::size_t s = from; s < law.stages.size(); ++s) {
    const double factor = factor_of(changes, s);
    const StageCost& stage = law.stages[s];
    in.live_seconds.push_back(factor * stage.worker_seconds);
    in.cpu_seconds += factor * stage.cpu_seconds;
    in.serial_seconds = std::max(in.serial_seconds, factor * stage.serial_seconds);
    in.memory_seconds += factor * stage.shared_seconds;
    in.copy_seconds += factor * stage.copy_seconds;
    (law.device_is_host ? in.trainer_seconds : in.step_seconds) += factor * stage.device_seconds;
    loads = loads || stage.worker_seconds > 0;
  }
  if (from < law.serve_seconds.size()) in.serve_seconds = law.serve_seconds[from];
  if (loads) in.serve_seconds += law.load_floor_seconds;
  in.cpu_seconds += in.serve_seconds;
  return in;
}

double predict(const FittedLaw& law, const LawChanges& changes, int boundary) {
  return 1 / std::max(predicted_seconds_per_sample(law_input(law, changes, boundary)), 1e-12);
}

LawLimit limit(const FittedLaw& law, const LawChanges& changes, int boundary) {
  const LawInput input = law_input(law, changes, boundary);
  const Server server = limiting_server(input);
  return {server, dominating(law, changes, static_cast<std::size_t>(boundary), server),
          predict(law, changes, boundary), law_margin(input)};
}

LawMisfit misfit(const FittedLaw& law, const Report& report) {
  LawMisfit result;
  const BesideLive measured = RoundRatios(report).beside_mean();
  for (std::size_t k = 0; k < measured.seconds.size(); ++k) {
    if (!measured.seconds[k]) continue;
    const double off = std::abs(predict(law, {}, static_cast<int>(k)) * *measured.seconds[k] - 1);
    result.worst = std::max(result.worst, off);
    if (k == 0) result.live = off;
    result.ceiling = off;
  }
  return result;
}

void fill_predictions(Report& report) {
  const auto law = fit_law(report);
  if (!law) return;
  for (BoundaryReport& boundary : report.boundaries) {
    boundary.predicted_samples_per_second = predict(*law, {}, boundary.index);
  }
}

}  // namespace cachebisect

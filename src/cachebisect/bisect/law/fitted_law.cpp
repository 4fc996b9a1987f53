#include "cachebisect/bisect/law/fitted_law.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cachebisect {
namespace {

/// From this share of all cores on, a stage that computes is taken to wait for a core when it does
/// not run.
constexpr double kCrowded = 0.75;
/// A stage that runs for less of its time than this waits for something else than a core.
constexpr double kComputes = 0.02;
/// A copy that the step hides shows nothing but that it is no longer than the step.
constexpr double kBeyondStep = 1.02;

/// Sums over live blocks.
struct LiveSums {
  std::vector<InlineCounters> stages;
  double seconds = 0;
  double samples = 0;
  double trainer_seconds = 0;

  void add(const BlockResult& block) {
    stages.resize(std::max(stages.size(), block.stages.size()));
    for (std::size_t s = 0; s < block.stages.size(); ++s) {
      stages[s].busy_seconds += block.stages[s].busy_seconds;
      stages[s].cpu_seconds += block.stages[s].cpu_seconds;
      stages[s].serial_seconds += block.stages[s].serial_seconds;
      stages[s].samples += block.stages[s].samples;
    }
    seconds += block.seconds;
    samples += static_cast<double>(block.samples);
    trainer_seconds += block.trainer_seconds;
  }
};

bool is_host(const StageReport& stage) {
  return stage.category != "copy" && stage.category != "device";
}

std::optional<double> tau(const Report& report, std::size_t boundary) {
  return report.boundaries.at(boundary).seconds_per_sample;
}

/// Seconds a sample of something that blocks at boundary n count; 0 where none does.
double at_ceiling(const Report& report, double BlockResult::*what) {
  double sum = 0;
  double samples = 0;
  for (const BlockRecord& record : report.blocks) {
    if (record.arm.kind != ArmKind::replay || record.result.is_void || record.round < 0) continue;
    if (record.arm.boundary != report.boundaries.back().index) continue;
    sum += record.result.*what;
    samples += static_cast<double>(record.result.samples);
  }
  return samples > 0 ? sum / samples : 0;
}

class Fit {
 public:
  Fit(const Report& report, const LiveSums& live) : report_(report), live_(live) {}

  std::optional<FittedLaw> fit() {
    if (live_.samples <= 0 || report_.boundaries.empty() || !tau(report_, last())) {
      return std::nullopt;
    }
    const ChainDescription& chain = report_.chain;
    law_.workers = chain.workers;
    law_.cores = report_.machine.usable_cpus;
    law_.device_is_host = chain.device_kind == "cpu";
    const bool may_overlap = chain.copy_pinned && chain.copy_non_blocking;
    law_.copy_blocks = !law_.device_is_host && !may_overlap;
    law_.copy_overlaps = law_.device_is_host || (may_overlap && chain.copy_prefetch >= 1);
    law_.serve_seconds = report_.cache.serve_seconds_per_sample;
    law_.load_floor_seconds = report_.cache.floor_seconds_per_sample.value_or(0);
    law_.trainer_cpu_seconds = at_ceiling(report_, &BlockResult::cpu_seconds);
    fit_step();
    if (!fit_host()) return std::nullopt;
    fit_device();
    return std::move(law_);
  }

 private:
  [[nodiscard]] std::size_t last() const { return report_.boundaries.size() - 1; }

  void fit_step() {
    const double ceiling = *tau(report_, last());
    const bool synchronised = report_.chain.sync_every == 1;
    if (law_.device_is_host || synchronised) {
      law_.trainer_seconds = ceiling;
      law_.step_seconds = law_.device_is_host ? 0 : ceiling;
      return;
    }
    const double busy = at_ceiling(report_, &BlockResult::trainer_seconds);
    law_.trainer_seconds =
        std::min(ceiling, busy > 0 ? busy : at_ceiling(report_, &BlockResult::cpu_seconds));
    // Loading inline, the training thread pays for submitting as well.
    if (law_.workers == 0 && live_.trainer_seconds > 0) {
      law_.trainer_seconds = live_.trainer_seconds / live_.samples;
    }
    law_.step_seconds = ceiling;
  }

  [[nodiscard]] bool crowded() const {
    double cpu = law_.trainer_cpu_seconds;
    for (const StageCost& stage : law_.stages) cpu += stage.cpu_seconds;
    const int threads = law_.workers + (law_.trainer_cpu_seconds > 0 ? 1 : 0);
    return threads > law_.cores && cpu > kCrowded * law_.cores * live_.seconds / live_.samples;
  }

  /// False where a host stage left no figures.
  bool fit_host() {
    for (std::size_t s = 0; s < report_.stages.size(); ++s) {
      const StageReport& stage = report_.stages[s];
      StageCost& cost = law_.stages.emplace_back();
      cost.name = stage.name;
      const bool known = s < live_.stages.size() && live_.stages[s].samples > 0;
      if (!known && is_host(stage) && stage.category != "collate") return false;
      cost.known = known || stage.category == "collate";
      if (!known || stage.category == "device") continue;
      const InlineCounters& sums = live_.stages[s];
      const auto samples = static_cast<double>(sums.samples);
      if (stage.category == "copy") {
        cost.copy_seconds = sums.busy_seconds / samples;
        continue;
      }
      cost.cpu_seconds = sums.cpu_seconds / samples;
      cost.serial_seconds = sums.serial_seconds / samples;
      cost.worker_seconds = sums.busy_seconds / samples;
    }
    leave_out_lines();
    return true;
  }

  /// Time in a line for a lock or a core is not the stage's own.
  void leave_out_lines() {
    const bool no_core_free = crowded();
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      double own = cost.worker_seconds;
      if (cost.serial_seconds > 0) {
        own = std::max(cost.cpu_seconds, cost.serial_seconds);
      } else if (no_core_free) {
        const bool computes = cost.cpu_seconds > kComputes * cost.worker_seconds;
        const auto waits = wait_with_cores_free(s);
        if (waits || computes) own = cost.cpu_seconds + waits.value_or(0);
      }
      cost.worker_seconds = std::min(cost.worker_seconds, own);
    }
  }

  /// Seconds a sample that a stage (0-based) does not compute, replayed at the nearest
  /// boundary where cores are idle: that is its own waiting. None where no such boundary was
  /// visited.
  [[nodiscard]] std::optional<double> wait_with_cores_free(std::size_t stage) const {
    for (std::size_t k = stage; k >= 1; --k) {
      LiveSums sums;
      double cpu = 0;
      for (const BlockRecord& record : report_.blocks) {
        const bool here = record.arm.kind == ArmKind::replay && record.round >= 0 &&
                          record.arm.boundary == static_cast<int>(k);
        if (!here || record.result.is_void || record.result.stages.size() <= stage) continue;
        sums.add(record.result);
        cpu += record.result.cpu_seconds;
      }
      const bool idle = sums.samples > 0 && cpu < kCrowded * law_.cores * sums.seconds;
      if (!idle || sums.stages[stage].samples == 0) continue;
      const InlineCounters& counters = sums.stages[stage];
      return std::max(0.0, counters.busy_seconds - counters.cpu_seconds) /
             static_cast<double>(counters.samples);
    }
    return std::nullopt;
  }

  /// Copy and device stages, from what boundaries differ by where probes are silent.
  void fit_device() {
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      const auto before = tau(report_, s);
      const auto after = tau(report_, s + 1);
      if (report_.stages[s].category == "device" && before && after) {
        cost.device_seconds = std::max(0.0, *before - *after);
        cost.known = true;
      }
    }
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      if (report_.stages[s].category != "copy" || cost.copy_seconds > 0) continue;
      if (!law_.device_is_host) cost.copy_seconds = copy_seconds(s);
      cost.known = law_.device_is_host || cost.copy_seconds > 0;
    }
  }

  [[nodiscard]] double copy_seconds(std::size_t s) const {
    const auto before = tau(report_, s);
    const auto after = tau(report_, s + 1);
    if (before && after && !law_.copy_overlaps) return std::max(0.0, *before - *after);
    if (before && after && *before > kBeyondStep * *after) return *before;
    const auto& bytes = report_.stages[s].output_bytes;
    const auto& bandwidth = report_.chain.copy_gb_per_s;
    if (!bytes || !bandwidth || *bandwidth <= 0) return 0;
    return std::min(*bytes / (1e9 * *bandwidth), before.value_or(1e300));
  }

  const Report& report_;
  const LiveSums& live_;
  FittedLaw law_;
};

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
    case Server::memory:
      return most(law, changes, from, [](const StageCost& c) { return c.worker_seconds; });
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

bool shows_live_costs(const BlockRecord& record) noexcept {
  return record.arm.kind == ArmKind::replay && record.arm.boundary == 0 && record.round >= 0 &&
         !record.result.is_void && !record.result.stages.empty() && record.result.samples > 0;
}

std::optional<FittedLaw> fit_law(const Report& report) {
  LiveSums live;
  for (const BlockRecord& record : report.blocks) {
    if (shows_live_costs(record)) live.add(record.result);
  }
  return Fit(report, live).fit();
}

std::optional<FittedLaw> fit_law(const Report& report, const BlockResult& live) {
  LiveSums sums;
  sums.add(live);
  return Fit(report, sums).fit();
}

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
  for (const BoundaryReport& boundary : report.boundaries) {
    if (!boundary.seconds_per_sample) continue;
    const double off =
        std::abs(predict(law, {}, boundary.index) * *boundary.seconds_per_sample - 1);
    result.worst = std::max(result.worst, off);
    if (boundary.index == 0) result.live = off;
    if (boundary.index == report.boundaries.back().index) result.ceiling = off;
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

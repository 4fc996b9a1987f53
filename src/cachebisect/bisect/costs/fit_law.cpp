// The costs of the law, from a run's live blocks and boundaries.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/bisect/costs/beside_live.hpp"
#include "cachebisect/bisect/costs/fitted_law.hpp"
#include "cachebisect/bisect/costs/sharing.hpp"
#include "cachebisect/bisect/record/block_sums.hpp"

namespace cachebisect {
namespace {

/// From this share of all cores on, a stage that computes is taken to wait for a core when it does
/// not run.
constexpr double kCrowded = 0.75;
/// A stage that runs for less of its time than this waits for something else than a core.
constexpr double kComputes = 0.02;
/// A copy that the step hides shows nothing but that it is no longer than the step.
constexpr double kBeyondStep = 1.02;
constexpr double kErrors = 3;  ///< standard errors, beyond which a difference is no noise

bool is_host(const StageReport& stage) { return runs_on_host(stage.category); }

/// Seconds a sample of something that blocks at boundary n count; 0 where none does.
double mean_at_ceiling(const Report& report, double BlockResult::*what) {
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
  Fit(const Report& report, const BlockSums& live, BesideLive beside,
      const std::vector<StageSharing>& sharing)
      : report_(report), live_(live), beside_(std::move(beside)), sharing_(sharing) {}

  std::optional<FittedLaw> fit() {
    if (live_.samples <= 0 || report_.boundaries.empty() || !tau(last())) {
      return std::nullopt;
    }
    const ChainDescription& chain = report_.chain;
    law_.workers = chain.workers;
    law_.cores = report_.machine.usable_cpus;
    law_.device_is_host = chain.device_kind == DeviceKind::cpu;
    const bool may_overlap = chain.copy_pinned && chain.copy_non_blocking;
    law_.copy_blocks = !law_.device_is_host && !may_overlap;
    law_.copy_overlaps = law_.device_is_host || (may_overlap && chain.copy_prefetch >= 1);
    law_.serve_seconds = report_.cache.serve_seconds_per_sample;
    law_.load_floor_seconds = report_.cache.floor_seconds_per_sample.value_or(0);
    law_.trainer_cpu_seconds = at_ceiling(&BlockResult::cpu_seconds);
    fit_step();
    if (!fit_host()) return std::nullopt;
    fit_device();
    return std::move(law_);
  }

 private:
  [[nodiscard]] std::size_t last() const { return report_.boundaries.size() - 1; }
  [[nodiscard]] std::optional<double> tau(std::size_t boundary) const {
    return beside_.seconds.at(boundary);
  }
  [[nodiscard]] double at_ceiling(double BlockResult::*what) const {
    return beside_.stretch.back() * mean_at_ceiling(report_, what);
  }

  void fit_step() {
    const double ceiling = *tau(last());
    const bool synchronised = report_.chain.sync_every == 1;
    if (law_.device_is_host || synchronised) {
      law_.trainer_seconds = ceiling;
      law_.step_seconds = law_.device_is_host ? 0 : ceiling;
      return;
    }
    const double busy = at_ceiling(&BlockResult::trainer_seconds);
    law_.trainer_seconds =
        std::min(ceiling, busy > 0 ? busy : at_ceiling(&BlockResult::cpu_seconds));
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
      if (!known && is_host(stage) && stage.category != Category::collate) return false;
      cost.known = known || stage.category == Category::collate;
      if (!known || stage.category == Category::device) continue;
      const StageCounters& sums = live_.stages[s];
      const auto samples = static_cast<double>(sums.samples);
      if (stage.category == Category::copy) {
        cost.copy_seconds = sums.busy_seconds / samples;
        continue;
      }
      cost.cpu_seconds = sums.cpu_seconds / samples;
      cost.serial_seconds = sums.serial_seconds / samples;
      cost.worker_seconds = sums.busy_seconds / samples;
    }
    leave_out_lines();
    leave_out_turns();
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

  /// Nor is time in turns for what all workers share.
  void leave_out_turns() {
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      cost.may_share = sharing_[s].kind == StageSharing::Kind::unknown && cost.serial_seconds == 0;
      if (sharing_[s].kind != StageSharing::Kind::shared) continue;
      cost.shared_seconds = sharing_[s].share * live_.seconds / live_.samples;
      cost.cpu_seconds = std::min(cost.cpu_seconds, cost.shared_seconds);
      cost.worker_seconds = std::min(cost.worker_seconds, cost.shared_seconds);
    }
  }

  /// Seconds a sample that a stage (0-based) does not compute, replayed at the nearest
  /// boundary where cores are idle: that is its own waiting. None where no such boundary was
  /// visited.
  [[nodiscard]] std::optional<double> wait_with_cores_free(std::size_t stage) const {
    for (std::size_t k = stage; k >= 1; --k) {
      BlockSums sums;
      for (const BlockRecord& record : report_.blocks) {
        const bool here = record.arm.kind == ArmKind::replay && record.round >= 0 &&
                          record.arm.boundary == static_cast<int>(k);
        if (!here || record.result.is_void || record.result.stages.size() <= stage) continue;
        sums.add(record.result);
      }
      const bool idle = sums.samples > 0 && sums.cpu_seconds < kCrowded * law_.cores * sums.seconds;
      if (!idle || sums.stages[stage].samples == 0) continue;
      const StageCounters& counters = sums.stages[stage];
      return beside_.stretch[k] * std::max(0.0, counters.busy_seconds - counters.cpu_seconds) /
             static_cast<double>(counters.samples);
    }
    return std::nullopt;
  }

  /// Copy and device stages, from what boundaries differ by where probes are silent.
  void fit_device() {
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      const auto before = tau(s);
      const auto after = tau(s + 1);
      if (report_.stages[s].category == Category::device && before && after) {
        cost.device_seconds = std::max(0.0, *before - *after);
        cost.known = true;
      }
    }
    for (std::size_t s = 0; s < law_.stages.size(); ++s) {
      StageCost& cost = law_.stages[s];
      if (report_.stages[s].category != Category::copy || cost.copy_seconds > 0) continue;
      if (!law_.device_is_host) cost.copy_seconds = copy_seconds(s);
      cost.known = law_.device_is_host || cost.copy_seconds > 0;
    }
  }

  /// Of the replay before stage s (0-based), which does less than those before it.
  [[nodiscard]] std::optional<double> no_longer_than_earlier(std::size_t s) const {
    std::optional<double> least = tau(s);
    for (std::size_t k = 0; least && k < s; ++k) least = std::min(*least, tau(k).value_or(*least));
    return least;
  }

  /// What the replay before stage s must take, over that at n, to show more than noise does.
  [[nodiscard]] double beyond_step(std::size_t s) const {
    return kBeyondStep + kErrors * (beside_.errors.at(s) + beside_.errors.back());
  }

  [[nodiscard]] double copy_seconds(std::size_t s) const {
    const auto before = no_longer_than_earlier(s);
    const auto after = tau(s + 1);
    if (before && after && !law_.copy_overlaps) return std::max(0.0, *before - *after);
    if (before && after && *before > beyond_step(s) * *after) return *before;
    const auto& bytes = report_.stages[s].output_bytes;
    const auto& bandwidth = report_.chain.copy_gb_per_s;
    if (!bytes || !bandwidth || *bandwidth <= 0) return 0;
    return std::min(*bytes / (1e9 * *bandwidth), before.value_or(1e300));
  }

  const Report& report_;
  const BlockSums& live_;
  BesideLive beside_;
  const std::vector<StageSharing>& sharing_;
  FittedLaw law_;
};

}  // namespace

bool shows_live_costs(const BlockRecord& record) noexcept {
  return record.arm.kind == ArmKind::replay && record.arm.boundary == 0 && record.round >= 0 &&
         !record.result.is_void && !record.result.stages.empty() && record.result.samples > 0;
}

std::optional<FittedLaw> fit_law(const Report& report) {
  BlockSums live;
  for (const BlockRecord& record : report.blocks) {
    if (shows_live_costs(record)) live.add(record.result);
  }
  const RoundRatios ratios(report);
  return Fit(report, live, ratios.beside_mean(), find_sharing(report, ratios)).fit();
}

std::optional<FittedLaw> fit_law(const Report& report, const BlockRecord& live,
                                 const RoundRatios& ratios,
                                 const std::vector<StageSharing>& sharing) {
  BlockSums sums;
  sums.add(live.result);
  return Fit(report, sums, ratios.beside(live), sharing).fit();
}

}  // namespace cachebisect

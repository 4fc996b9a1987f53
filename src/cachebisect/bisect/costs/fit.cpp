#include "cachebisect/bisect/costs/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/bisect/costs/counted_cost.hpp"
#include "cachebisect/bisect/evidence/serving_cost.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/block_totals.hpp"

namespace cachebisect {
namespace {

/// CPUs that a step with one thread keeps busy, at most.
constexpr double kOneThread = 1.1;
/// CPUs that others keep busy on a machine of which that can be seen.
constexpr double kMaxOtherLoad = 0.2;

/// The costs behind one set of live blocks.
class Fit {
 public:
  Fit(const Measurements& measured, const std::vector<double>& serve_seconds,
      const std::vector<StageSharing>& sharing, const BlockTotals& live, PacedTaus paced)
      : measured_(measured),
        chain_(measured.chain),
        sharing_(sharing),
        live_(live),
        paced_(std::move(paced)) {
    costs_.serve_seconds = serve_seconds;
  }

  std::optional<CostModel> fit() {
    if (live_.samples <= 0 || !tau(last())) return std::nullopt;
    costs_.workers = chain_.workers;
    costs_.cores = usable_cores();
    costs_.device_is_host = chain_.device_kind == DeviceKind::cpu;
    const bool may_overlap = chain_.copy_pinned && chain_.copy_non_blocking.value_or(false);
    costs_.copy_blocks = !costs_.device_is_host && !may_overlap;
    costs_.copy_overlaps = costs_.device_is_host || (may_overlap && chain_.copy_prefetch >= 1);
    costs_.load_floor_seconds = measured_.cache.floor_seconds_per_sample.value_or(0);
    costs_.trainer_cpu_seconds = at_ceiling(&BlockTotals::cpu_seconds);
    costs_.trainer_threads = busy_threads();
    fit_step();
    if (!fit_host()) return std::nullopt;
    fit_device();
    return std::move(costs_);
  }

 private:
  [[nodiscard]] std::size_t last() const { return chain_.stages.size(); }
  [[nodiscard]] std::optional<double> tau(std::size_t boundary) const {
    return paced_.seconds.at(boundary);
  }
  [[nodiscard]] BlockTotals totals_at(int boundary) const {
    BlockTotals totals;
    for (const BlockRecord& record : measured_.blocks) {
      if (record.shows_replay_at(boundary)) totals.add(record.result);
    }
    return totals;
  }
  /// Seconds per sample that the blocks at boundary n count; 0 if there are none.
  [[nodiscard]] double at_ceiling(double BlockTotals::*what) const {
    const BlockTotals totals = totals_at(static_cast<int>(last()));
    return totals.samples > 0 ? paced_.stretch.back() * ((totals.*what) / totals.samples) : 0;
  }

  void fit_step() {
    const double ceiling = *tau(last());
    const bool synchronized = chain_.sync_every == 1;
    if (costs_.device_is_host || synchronized) {
      costs_.trainer_seconds = ceiling;
      costs_.step_seconds = costs_.device_is_host ? 0 : ceiling;
      return;
    }
    const double busy = at_ceiling(&BlockTotals::trainer_seconds);
    costs_.trainer_seconds =
        std::min(ceiling, busy > 0 ? busy : at_ceiling(&BlockTotals::cpu_seconds));
    // When it loads inline, the training thread also pays for submitting.
    if (costs_.workers == 0 && live_.trainer_seconds > 0) {
      costs_.trainer_seconds = live_.trainer_seconds / live_.samples;
    }
    costs_.step_seconds = ceiling;
  }

  /// That the step computes with on the host, next to workers. Those of a step of ours depend on
  /// the workers; one that keeps no more than a core busy where others were idle has one.
  [[nodiscard]] int busy_threads() const {
    if (!chain_.worker_processes || !costs_.device_is_host) return 1;
    const double others = measured_.disturbance.other_load.value_or(0);
    const bool had_cores = measured_.usable_cpus() - others > 2 - kMaxOtherLoad;
    const bool is_one = costs_.trainer_cpu_seconds < kOneThread * *tau(last());
    return had_cores && is_one ? 1 : std::max(1, chain_.train_threads);
  }

  /// Physical cores, or as many CPUs as a replay kept busy: hyper-threads add something, but not a
  /// core each.
  [[nodiscard]] double usable_cores() const {
    double cores = measured_.usable_cores();
    for (int k = 0; k <= static_cast<int>(last()); ++k) {
      const BlockTotals totals = totals_at(k);
      if (totals.seconds > 0) cores = std::max(cores, totals.cpu_seconds / totals.seconds);
    }
    return std::min(cores, measured_.usable_cpus());
  }

  [[nodiscard]] bool crowded() const {
    const double cpus = measured_.usable_cpus();
    double cpu = costs_.trainer_cpu_seconds;
    for (const StageCost& stage : costs_.stages) cpu += stage.cpu_seconds;
    const int threads = costs_.workers + (costs_.trainer_cpu_seconds > 0 ? 1 : 0);
    return threads > cpus && cpu > kCrowded * cpus * live_.seconds / live_.samples;
  }

  /// The counters of a stage in live blocks. Receiving a batch from a worker can only be timed if
  /// the batch was ready, which may happen in replays alone.
  [[nodiscard]] StageCounters counters_of(std::size_t s) const {
    if (s < live_.stages.size() && live_.stages[s].samples > 0) return live_.stages[s];
    if (chain_.stages[s].category != Category::transfer) return {};
    for (std::size_t k = s; k >= 1; --k) {
      const BlockTotals totals = totals_at(static_cast<int>(k));
      if (s < totals.stages.size() && totals.stages[s].samples > 0) return totals.stages[s];
    }
    return {};
  }

  /// False if a host stage has no counters.
  bool fit_host() {
    for (std::size_t s = 0; s < chain_.stages.size(); ++s) {
      const StageDescription& stage = chain_.stages[s];
      const StageCounters counters = counters_of(s);
      const bool known = counters.samples > 0;
      const bool may_cost_nothing = works_on_batches(stage.kind);
      if (!known && runs_on_host(stage.category) && !may_cost_nothing) return false;
      StageCost& cost = costs_.stages.emplace_back(counted_cost(stage.category, counters));
      cost.name = stage.name;
      cost.known = known || may_cost_nothing;
    }
    exclude_queueing();
    exclude_shared_waiting();
    return true;
  }

  /// Time in the queue for a lock or a core is not the stage's own.
  void exclude_queueing() {
    const bool no_core_free = crowded();
    for (std::size_t s = 0; s < costs_.stages.size(); ++s) {
      StageCost& cost = costs_.stages[s];
      double own = cost.worker_seconds;
      if (cost.serial_seconds > 0) {
        own = std::max(cost.cpu_seconds, cost.serial_seconds);
      } else if (no_core_free) {
        const bool computes = cost.cpu_seconds > kNegligible * cost.worker_seconds;
        const auto waits = wait_with_cores_free(s);
        if (waits || computes) own = cost.cpu_seconds + waits.value_or(0);
      }
      cost.worker_seconds = std::min(cost.worker_seconds, own);
    }
  }

  /// Nor is time spent waiting for a resource that all workers share.
  void exclude_shared_waiting() {
    for (std::size_t s = 0; s < costs_.stages.size(); ++s) {
      StageCost& cost = costs_.stages[s];
      cost.may_share = sharing_[s].kind == StageSharing::Kind::unknown && cost.serial_seconds == 0;
      if (sharing_[s].kind != StageSharing::Kind::shared) continue;
      cost.shared_seconds = sharing_[s].share * live_.seconds / live_.samples;
      cost.cpu_seconds = std::min(cost.cpu_seconds, cost.shared_seconds);
      cost.worker_seconds = std::min(cost.worker_seconds, cost.shared_seconds);
    }
  }

  /// Seconds per sample that a stage (0-based) does not compute, replayed at the nearest boundary
  /// where cores are idle: its own waiting. Empty if no such boundary was visited.
  [[nodiscard]] std::optional<double> wait_with_cores_free(std::size_t stage) const {
    for (std::size_t k = stage; k >= 1; --k) {
      const BlockTotals totals = totals_at(static_cast<int>(k));
      const bool idle = totals.samples > 0 &&
                        totals.cpu_seconds < kCrowded * measured_.usable_cpus() * totals.seconds;
      if (!idle || totals.stages.size() <= stage || totals.stages[stage].samples == 0) continue;
      const StageCounters& counters = totals.stages[stage];
      return paced_.stretch[k] * std::max(0.0, counters.busy_seconds - counters.cpu_seconds) /
             static_cast<double>(counters.samples);
    }
    return std::nullopt;
  }

  /// Copy and device stages: from the difference between boundaries if no probe tells.
  void fit_device() {
    for (std::size_t s = 0; s < costs_.stages.size(); ++s) {
      StageCost& cost = costs_.stages[s];
      const auto before = tau(s);
      const auto after = tau(s + 1);
      if (chain_.stages[s].category == Category::device && before && after) {
        cost.device_seconds = std::max(0.0, *before - *after);
        cost.known = true;
      }
    }
    for (std::size_t s = 0; s < costs_.stages.size(); ++s) {
      StageCost& cost = costs_.stages[s];
      if (chain_.stages[s].category != Category::copy || cost.copy_seconds > 0) continue;
      if (!costs_.device_is_host) cost.copy_seconds = copy_seconds(s);
      cost.known = costs_.device_is_host || cost.copy_seconds > 0;
    }
  }

  /// Seconds per sample of the replay before stage s (0-based), which does no more than earlier
  /// ones.
  [[nodiscard]] std::optional<double> no_longer_than_earlier(std::size_t s) const {
    std::optional<double> least = tau(s);
    for (std::size_t k = 0; least && k < s; ++k) least = std::min(*least, tau(k).value_or(*least));
    return least;
  }

  /// How many times as long as at n the replay before stage s must take to stand out of the noise.
  [[nodiscard]] double beyond_step(std::size_t s) const {
    return 1 + kNegligible + kCertain * (paced_.errors.at(s) + paced_.errors.back());
  }

  [[nodiscard]] double copy_seconds(std::size_t s) const {
    const auto before = no_longer_than_earlier(s);
    const auto after = tau(s + 1);
    if (before && after && !costs_.copy_overlaps) return std::max(0.0, *before - *after);
    if (before && after && *before > beyond_step(s) * *after) return *before;
    const auto& bytes = chain_.stages[s].output_bytes;
    const auto& bandwidth = chain_.copy_gb_per_s;
    if (!bytes || !bandwidth || *bandwidth <= 0) return 0;
    return std::min(*bytes / (1e9 * *bandwidth), before.value_or(1e300));
  }

  const Measurements& measured_;
  const ChainDescription& chain_;
  const std::vector<StageSharing>& sharing_;
  const BlockTotals& live_;
  PacedTaus paced_;
  CostModel costs_;
};

}  // namespace

CostFit::CostFit(const Measurements& measured, const RoundRatios& ratios)
    : measured_(&measured),
      ratios_(&ratios),
      serve_seconds_(serving_cost(measured.chain, measured.cache, measured.verdict.table)),
      sharing_(find_sharing(measured, ratios)) {}

std::optional<CostModel> CostFit::fit() const {
  BlockTotals live;
  for (const BlockRecord& record : measured_->blocks) {
    if (record.shows_live() && record.has_counters()) live.add(record.result);
  }
  return Fit(*measured_, serve_seconds_, sharing_, live, ratios_->at_mean_pace()).fit();
}

std::optional<CostModel> CostFit::fit_to(const BlockRecord& live) const {
  BlockTotals totals;
  totals.add(live.result);
  return Fit(*measured_, serve_seconds_, sharing_, totals, ratios_->at_pace_of(live)).fit();
}

}  // namespace cachebisect

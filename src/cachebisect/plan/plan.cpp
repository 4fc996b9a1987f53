#include "cachebisect/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/bisect/costs/worker_changes.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect::plan {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;
/// Fewer workers are taken if they reach so much of what the best count does.
constexpr double kNearlyBest = 0.99;
constexpr int kMostWorkers = 128;

/// One job, seen from one accelerator.
class Planner {
 public:
  /// Keeps a reference to the recording of the report.
  explicit Planner(const Report& report)
      : chain_(report.recording->chain), forecast_(fitted(*report.recording)) {
    const auto read = std::ranges::find(report.stages, Category::read, &StageReport::category);
    if (read != report.stages.end()) sample_bytes_ = read->output_bytes;
  }

  [[nodiscard]] Row row(const Machine& machine) const {
    Row row{.machine = machine};
    row.workers = best_workers(machine);
    const CostChanges changes = changes_for(machine, row.workers);
    row.rate = forecast_.after(changes);
    row.limit = limit_text(limit_of(forecast_.costs(), changes));
    const double ceiling = ceiling_of(changes);
    row.cores_for_ceiling =
        demands_of(forecast_.costs(), changes).cpu_seconds * ceiling * machine.accelerators;
    scale(row, machine.accelerators);
    row.ceiling = ceiling * machine.accelerators;
    limit_by_storage(row);
    if (sample_bytes_) row.storage_for_ceiling = *sample_bytes_ * row.ceiling;
    if (machine.price_per_hour && row.rate.value.value_or(0) > 0) {
      row.price_per_million =
          *machine.price_per_hour / (*row.rate.value * kSecondsPerHour) * kMillion;
    }
    return row;
  }

  [[nodiscard]] const Estimate& live() const noexcept { return forecast_.live(); }
  [[nodiscard]] bool trains_on_host() const noexcept { return forecast_.costs().device_is_host; }

 private:
  static Forecast fitted(const Measurements& measured) {
    auto forecast = Forecast::of(measured);
    if (forecast) return *forecast;
    throw Error(ErrorKind::usage,
                "the costs of the stages cannot be told from this run: it ended too early, or its "
                "adapter counts no time of stages; run it again, longer");
  }

  [[nodiscard]] CostChanges changes_for(const Machine& machine, int workers) const {
    CostChanges changes = changed_workers(chain_, workers);
    // What the step loses to workers on this machine says nothing of another one.
    changes.step_factor = 1;
    changes.step_within = 1;
    changes.machine = OtherMachine{.cores = machine.cores_each(),
                                   .core_speed = machine.core_speed,
                                   .device_speed = machine.accelerator_speed};
    return changes;
  }

  [[nodiscard]] int best_workers(const Machine& machine) const {
    const int most = std::clamp(static_cast<int>(std::ceil(2 * machine.cores_each())),
                                std::max(1, chain_.workers), kMostWorkers);
    // A job that loads in its training thread may stay so.
    const int least = std::min(1, chain_.workers);
    std::vector<double> rates;
    for (int workers = least; workers <= most; ++workers) {
      rates.push_back(predict(forecast_.costs(), changes_for(machine, workers)));
    }
    const double best = *std::ranges::max_element(rates);
    const auto first =
        std::ranges::find_if(rates, [best](double r) { return r >= kNearlyBest * best; });
    return least + static_cast<int>(first - rates.begin());
  }

  /// Samples/s with input for free.
  [[nodiscard]] double ceiling_of(const CostChanges& changes) const {
    return predict(forecast_.costs(), changes, static_cast<int>(forecast_.costs().stages.size()));
  }

  static void scale(Row& row, double factor) {
    if (row.rate.value) *row.rate.value *= factor;
    if (row.rate.interval) {
      row.rate.interval->low *= factor;
      row.rate.interval->high *= factor;
    }
  }

  void limit_by_storage(Row& row) const {
    const auto& storage = row.machine.storage_bytes_per_second;
    if (!storage || !sample_bytes_ || !(*sample_bytes_ > 0) || !row.rate.value) return;
    const double most = *storage / *sample_bytes_;
    if (*row.rate.value <= most) return;
    row.rate.value = most;
    row.limit = "storage";
    if (row.rate.interval) {
      row.rate.interval->low = std::min(row.rate.interval->low, most);
      row.rate.interval->high = std::min(row.rate.interval->high, most);
    }
  }

  static std::string limit_text(const Limit& limit) {
    const bool step = limit.server == Server::step ||
                      (limit.server == Server::training_thread && limit.stage.empty());
    if (step && limit.stage.empty()) return "the training step";
    if (limit.server == Server::cpu) {
      return limit.stage.empty() ? "cores" : "cores: " + limit.stage;
    }
    return limit.stage.empty() ? to_string(limit.server) : limit.stage;
  }

  const ChainDescription& chain_;
  Forecast forecast_;
  std::optional<double> sample_bytes_;
};

template <class Better>
std::optional<std::size_t> best_row(const std::vector<Row>& rows, const Better& better) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (better(rows[i], best ? &rows[*best] : nullptr)) best = i;
  }
  return best;
}

}  // namespace

Plan make_plan(const Report& report, const std::vector<Machine>& machines) {
  if (!report.recording) {
    throw Error(ErrorKind::usage,
                "the report has no recording: it was written by an older version; run it again");
  }
  const Measurements& measured = *report.recording;
  const Planner planner(report);
  Plan plan{.name = measured.chain.name,
            .cores = measured.usable_cpus(),
            .live = planner.live(),
            .trains_on_host = planner.trains_on_host()};
  for (const Machine& machine : machines) plan.rows.push_back(planner.row(machine));
  plan.cheapest = best_row(plan.rows, [](const Row& row, const Row* best) {
    if (!row.price_per_million) return false;
    return best == nullptr || *row.price_per_million < *best->price_per_million;
  });
  plan.smallest = best_row(plan.rows, [](const Row& row, const Row* best) {
    if (row.share() < kEnough) return false;
    return best == nullptr || row.machine.cores_each() < best->machine.cores_each();
  });
  return plan;
}

}  // namespace cachebisect::plan

#include "cachebisect/bisect/advice/advice.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/process_warnings.hpp"
#include "cachebisect/bisect/costs/worker_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

constexpr double kMinShare = 0.1;           ///< of a core that a process gets in the end
constexpr double kLoadWorthCounting = 0.5;  ///< CPUs busy with other processes

}  // namespace

void Advice::add(Proposal proposal) {
  const bool known = std::any_of(proposals_.begin(), proposals_.end(), [&](const Proposal& p) {
    return p.remedy.id == proposal.remedy.id;
  });
  if (!known) proposals_.push_back(std::move(proposal));
}

double Advice::free_cpus() const {
  const double others = measured_->disturbance.other_load.value_or(0);
  return usable_cpus() - (others >= kLoadWorthCounting ? others : 0);
}

bool Advice::is_host_bound() const { return cachebisect::is_host_bound(*measured_); }

bool Advice::can_set_workers() const {
  return !of_code() || chain().settings.at(settings::kWorkers.key) != nullptr;
}

void Advice::add_workers(const std::string& stage, const std::string& reason, bool waiting) {
  if (!can_set_workers()) return;
  const int now = chain().workers;
  const double usable = std::min(free_cpus(), measured_->usable_cores());
  const int cores = whole_cpus(usable);
  const int better = waiting ? std::max(2 * std::max(1, now), cores) : cores;
  if (better <= now) return;
  const std::string count = std::to_string(better);
  add(propose("workers", stage,
              "use " + counted(static_cast<std::uint64_t>(better), "worker") + " instead of " +
                  std::to_string(now),
              now == 0 ? "now the training thread loads every batch itself; " + reason : reason,
              {{"/workers", count}}, changed_workers(chain(), better), {"--workers " + count}));
}

bool Advice::mostly_waits(const StageReport& stage) const {
  if (!observed(stage)) return false;
  const double cpu = *stage.cpu_seconds_per_sample;
  const double busy = busy_seconds(stage);
  const double sharing = chain().workers / std::max(free_cpus(), kMinShare);
  const double own = *stage.wait_seconds_per_sample - cpu * std::max(0.0, sharing - 1);
  return busy > 0 && own > kMostOf * busy;
}

Proposal propose(std::string id, std::string stage, std::string text, std::string reason,
                 std::vector<Edit> edits, std::optional<CostChanges> changes,
                 std::vector<std::string> flags) {
  Remedy remedy;
  remedy.id = std::move(id);
  remedy.stage = std::move(stage);
  remedy.text = std::move(text);
  remedy.reason = std::move(reason);
  remedy.flags = std::move(flags);
  remedy.edits = std::move(edits);
  return {std::move(remedy), std::move(changes)};
}

CostChanges scaled_stage(const StageReport& stage, double factor) {
  CostChanges changes;
  changes.stages.push_back({.stage = static_cast<std::size_t>(stage.index) - 1, .factor = factor});
  return changes;
}

CostChanges free_stage(const StageReport& stage) { return scaled_stage(stage, 0); }

CostChanges scaled_copy(const Advice& advice, double factor) {
  CostChanges changes;
  for (const StageReport& stage : advice.stages()) {
    if (stage.category != Category::copy) continue;
    changes.stages.push_back(
        {.stage = static_cast<std::size_t>(stage.index) - 1, .factor = factor});
  }
  return changes;
}

}  // namespace cachebisect

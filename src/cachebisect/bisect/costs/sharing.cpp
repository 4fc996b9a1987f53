#include "cachebisect/bisect/costs/sharing.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/block_totals.hpp"

namespace cachebisect {
namespace {

/// The other stages must be shorter at the boundary by this many standard errors of the comparison.
constexpr double kMinErrors = 8;
/// A stage that grew by a smaller share of the gap has not taken it over.
constexpr double kStays = 0.25;

/// Seconds per sample at a boundary, at the pace of the live pipeline.
struct Seen {
  double stage = 0;   ///< CPU, of the stage in question
  double others = 0;  ///< of the other host stages
  double tau = 0;
  double error = 0;  ///< of all of them, as a share of the live pipeline's
};

class Search {
 public:
  Search(const Measurements& measured, const PacedTaus& paced)
      : measured_(measured),
        paced_(paced),
        crowded_(measured.chain.workers > measured.usable_cpus()) {
    for (const BlockRecord& record : measured.blocks) {
      if (record.shows_replay() && record.has_counters()) {
        totals_[record.arm.boundary].add(record.result);
      }
    }
  }

  [[nodiscard]] StageSharing of(std::size_t stage) const {
    if (measured_.chain.workers < 2) return {};
    const auto live = seen(0, stage);
    for (int k = static_cast<int>(stage); live && k >= 1; --k) {
      if (const auto replayed = seen(k, stage)) return compare(*live, *replayed);
    }
    return {};
  }

 private:
  /// Empty if the stage has no counters, or counters that do not tell.
  [[nodiscard]] std::optional<Seen> seen(int boundary, std::size_t stage) const {
    const auto found = totals_.find(boundary);
    const auto& tau = paced_.seconds.at(static_cast<std::size_t>(boundary));
    if (found == totals_.end() || !tau) return std::nullopt;
    Seen seen{.tau = *tau, .error = paced_.errors.at(static_cast<std::size_t>(boundary))};
    const double stretch = paced_.stretch.at(static_cast<std::size_t>(boundary));
    const BlockTotals& totals = found->second;
    for (std::size_t s = 0; s < totals.stages.size(); ++s) {
      const StageCounters& counters = totals.stages[s];
      const Category category = measured_.chain.stages[s].category;
      if (counters.samples == 0 || !runs_on_host(category)) continue;
      const auto samples = static_cast<double>(counters.samples);
      if (s == stage && (counters.serial_seconds > 0 || counters.cpu_seconds <= 0)) return {};
      if (s == stage) {
        seen.stage = stretch * counters.cpu_seconds / samples;
      } else {
        seen.others +=
            stretch * (crowded_ ? counters.cpu_seconds : counters.busy_seconds) / samples;
      }
    }
    return seen.stage > 0 ? std::optional(seen) : std::nullopt;
  }

  [[nodiscard]] double capacity() const {
    return crowded_ ? measured_.usable_cpus() : measured_.chain.workers;
  }
  [[nodiscard]] bool limits(const Seen& seen) const {
    return seen.stage + seen.others > kNearlyAll * capacity() * seen.tau;
  }

  [[nodiscard]] StageSharing compare(const Seen& live, const Seen& replayed) const {
    const double gap = live.others - replayed.others;
    const double enough = std::max(kNegligible, kMinErrors * replayed.error);
    if (gap < enough * live.stage || !limits(live) || !limits(replayed)) return {};
    const double growth = replayed.stage - live.stage;
    if (growth < kStays * gap) return {.kind = StageSharing::Kind::alone};
    if (growth < kMostOf * gap) return {};
    // With more workers than cores, the workers in this stage take turns with the others on a core.
    const double held = crowded_ ? replayed.tau - replayed.others / capacity() : replayed.tau;
    if (replayed.stage < kNearlyAll * held) return {};
    return {.kind = StageSharing::Kind::shared, .share = held / live.tau};
  }

  const Measurements& measured_;
  const PacedTaus& paced_;
  std::map<int, BlockTotals> totals_;
  bool crowded_;
};

}  // namespace

std::vector<StageSharing> find_sharing(const Measurements& measured, const RoundRatios& ratios) {
  const PacedTaus paced = ratios.at_mean_pace();
  const Search search(measured, paced);
  std::vector<StageSharing> result;
  for (std::size_t s = 0; s < measured.chain.stages.size(); ++s) {
    const bool host = runs_on_host(measured.chain.stages[s].category);
    result.push_back(host ? search.of(s) : StageSharing{});
  }
  return result;
}

}  // namespace cachebisect

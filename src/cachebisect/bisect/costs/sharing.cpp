#include "cachebisect/bisect/costs/sharing.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "cachebisect/bisect/record/block_sums.hpp"

namespace cachebisect {
namespace {

/// The other stages must be so much shorter at the boundary, in seconds of the stage in question.
constexpr double kLeastGap = 0.04;
/// And by so many standard errors of what the two are compared by.
constexpr double kLeastErrors = 8;
/// From this share of the gap on, a stage that grew has taken it over; below the other it has not.
constexpr double kTakesOver = 0.5;
constexpr double kStays = 0.25;
/// Workers who are busy for this share of the time limit.
constexpr double kBusy = 0.9;

/// Seconds a sample at a boundary, at the pace of the live pipeline.
struct Seen {
  double stage = 0;   ///< CPU, of the stage in question
  double others = 0;  ///< of the other host stages
  double tau = 0;
  double error = 0;  ///< of all of them, as a share of the live pipeline's
};

class Search {
 public:
  Search(const Report& report, const BesideLive& beside) : report_(report), beside_(beside) {
    for (const BlockRecord& record : report.blocks) {
      const bool counts = record.arm.kind == ArmKind::replay && record.round >= 0 &&
                          record.arm.observed && !record.result.is_void;
      if (counts && !record.result.stages.empty()) sums_[record.arm.boundary].add(record.result);
    }
    crowded_ = report.chain.workers > report.machine.usable_cpus;
  }

  [[nodiscard]] StageSharing of(std::size_t stage) const {
    if (report_.chain.workers < 2) return {};
    const auto live = seen(0, stage);
    for (int k = static_cast<int>(stage); live && k >= 1; --k) {
      if (const auto replayed = seen(k, stage)) return compare(*live, *replayed);
    }
    return {};
  }

 private:
  /// None where the stage's figures are missing or not of a kind that tells.
  [[nodiscard]] std::optional<Seen> seen(int boundary, std::size_t stage) const {
    const auto found = sums_.find(boundary);
    const auto& tau = beside_.seconds.at(static_cast<std::size_t>(boundary));
    if (found == sums_.end() || !tau) return std::nullopt;
    Seen seen{.tau = *tau, .error = beside_.errors.at(static_cast<std::size_t>(boundary))};
    const double stretch = beside_.stretch.at(static_cast<std::size_t>(boundary));
    const BlockSums& sums = found->second;
    for (std::size_t s = 0; s < sums.stages.size(); ++s) {
      const StageCounters& counters = sums.stages[s];
      const Category category = report_.stages[s].category;
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
    return crowded_ ? report_.machine.usable_cpus : report_.chain.workers;
  }
  [[nodiscard]] bool limits(const Seen& seen) const {
    return seen.stage + seen.others > kBusy * capacity() * seen.tau;
  }

  [[nodiscard]] StageSharing compare(const Seen& live, const Seen& replayed) const {
    const double gap = live.others - replayed.others;
    const double least = std::max(kLeastGap, kLeastErrors * replayed.error);
    if (gap < least * live.stage || !limits(live) || !limits(replayed)) return {};
    const double growth = replayed.stage - live.stage;
    if (growth < kStays * gap) return {.kind = StageSharing::Kind::alone};
    if (growth < kTakesOver * gap) return {};
    // Where more workers than cores meet in it, those who run it take turns with the others' work.
    const double held = crowded_ ? replayed.tau - replayed.others / capacity() : replayed.tau;
    return {.kind = StageSharing::Kind::shared, .share = held / live.tau};
  }

  const Report& report_;
  const BesideLive& beside_;
  std::map<int, BlockSums> sums_;
  bool crowded_ = false;
};

}  // namespace

std::vector<StageSharing> find_sharing(const Report& report, const RoundRatios& ratios) {
  const BesideLive beside = ratios.beside_mean();
  const Search search(report, beside);
  std::vector<StageSharing> result;
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    const Category category = report.stages[s].category;
    const bool host = runs_on_host(category);
    result.push_back(host ? search.of(s) : StageSharing{});
  }
  return result;
}

}  // namespace cachebisect

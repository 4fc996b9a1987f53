#include "cachebisect/bisect/record/quota_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace cachebisect {
namespace {

/// A block that uses less than this share of the quota does not exhaust it by itself. One that uses
/// more might, if it went on: short blocks between cheaper ones profit from what those leave.
constexpr double kBelowQuota = 0.8;
/// Groups of steps, and those of a run in one piece: a period ends somewhere in one of them.
constexpr int kMaxGroups = 100;
constexpr int kMaxGroupsOfRun = 2000;
/// More would be a fault of the clock.
constexpr double kMaxPeriods = 1e6;

/// False for times that no clock gives.
bool is_sound(const BlockResult& block) {
  const auto takes_time = [](double tau) { return std::isfinite(tau) && tau > 0; };
  return block.steps > 0 && block.samples > 0 && std::ranges::all_of(block.group_taus, takes_time);
}

/// Samples of each group.
double samples_of_group(const BlockResult& block) {
  const double steps = std::floor(block.steps / static_cast<double>(block.group_taus.size()));
  return static_cast<double>(block.samples) * steps / block.steps;
}

/// The samples of each whole period. Of a group in which a period ends, as much belongs to it as of
/// the group's time.
std::vector<double> samples_by_period(const BlockResult& block, double period_seconds) {
  const double of_group = samples_of_group(block);
  std::vector<double> periods;
  double samples = 0;
  double left = period_seconds;
  for (const double tau : block.group_taus) {
    double seconds = tau * of_group;
    while (seconds >= left) {
      periods.push_back(samples + left / tau);
      seconds -= left;
      samples = 0;
      left = period_seconds;
    }
    samples += seconds / tau;
    left -= seconds;
  }
  return periods;
}

}  // namespace

bool QuotaWatch::disturbed(const BlockResult& block, const MachineReading& now) {
  const double ran_out = now.throttled_periods.value_or(0) - last_.throttled_periods.value_or(0);
  last_ = now;
  const double safe = kBelowQuota * now.quota_cpus.value_or(0) * block.seconds;
  if (ran_out > 0 || block.cpu_seconds > safe) {
    period_seconds_ = std::max(period_seconds_, now.quota_period_seconds.value_or(0));
  }
  const bool below = block.cpu_seconds > 0 && block.cpu_seconds < safe;
  // The first period of a block may still be that which the block before used up.
  return below && ran_out > 1;
}

void QuotaWatch::prepare(BlockRequest& request) const {
  if (period_seconds_ <= 0) return;
  const int most = request.groups > 1 ? kMaxGroupsOfRun : kMaxGroups;
  const int group = (request.steps + most - 1) / most;
  request.groups = request.steps / group;
}

void QuotaWatch::settle(BlockResult& block, bool in_groups) const {
  if (period_seconds_ <= 0 || block.group_taus.empty() || !is_sound(block)) return;
  const double all_taus = std::accumulate(block.group_taus.begin(), block.group_taus.end(), 0.0);
  if (all_taus * samples_of_group(block) > kMaxPeriods * period_seconds_) return;
  const std::vector<double> samples = samples_by_period(block, period_seconds_);
  block.group_taus.clear();
  if (samples.empty()) return;
  const double all = std::accumulate(samples.begin(), samples.end(), 0.0);
  const double seconds = period_seconds_ * static_cast<double>(samples.size());
  block.seconds = seconds / all * static_cast<double>(block.samples);
  if (!in_groups) return;
  for (const double count : samples) block.group_taus.push_back(period_seconds_ / count);
}

}  // namespace cachebisect

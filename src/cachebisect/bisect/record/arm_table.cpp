#include "cachebisect/bisect/record/arm_table.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/evidence/evidence.hpp"

namespace cachebisect {
namespace {

void add_counters(std::vector<StageCounters>& sums, const std::vector<StageCounters>& more) {
  if (sums.size() < more.size()) sums.resize(more.size());
  for (std::size_t s = 0; s < more.size(); ++s) {
    sums[s].busy_seconds += more[s].busy_seconds;
    sums[s].cpu_seconds += more[s].cpu_seconds;
    sums[s].slot_write_seconds += more[s].slot_write_seconds;
    sums[s].slot_writes += more[s].slot_writes;
    sums[s].serial_seconds += more[s].serial_seconds;
    sums[s].samples += more[s].samples;
  }
}

}  // namespace

Estimate ratio_of(const LogRatio& ratio) {
  Estimate out{std::exp(ratio.value), std::nullopt};
  if (ratio.interval) {
    out.interval = Interval{std::exp(ratio.interval->low), std::exp(ratio.interval->high)};
  }
  return out;
}

ArmTable::ArmTable(std::vector<Arm> arms)
    : arms_(std::move(arms)), log_taus_(arms_.size()), open_(arms_.size()), totals_(arms_.size()) {}

void ArmTable::add(std::size_t arm, const BlockResult& block) { open_.at(arm) = block; }

void ArmTable::commit() {
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    const BlockResult& block = open_[arm];
    const auto samples = static_cast<double>(block.samples);
    log_taus_[arm].push_back(std::log(block.seconds / samples));
    ArmTotals& sum = totals_[arm];
    sum.seconds += block.seconds;
    sum.samples += samples;
    sum.starved_seconds += block.starved_seconds;
    sum.cpu_seconds += block.cpu_seconds;
    add_counters(sum.stages, block.stages);
  }
  ++rounds_;
  discard();
}

void ArmTable::discard() { open_.assign(arms_.size(), {}); }

std::optional<std::size_t> ArmTable::find(const Arm& arm) const {
  const auto found = std::find(arms_.begin(), arms_.end(), arm);
  if (found == arms_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - arms_.begin());
}

double ArmTable::tau(std::size_t arm) const {
  return totals_.at(arm).seconds / totals_.at(arm).samples;
}

LogRatio ArmTable::log_ratio(std::size_t slow, std::size_t fast, double alpha) const {
  LogRatio ratio;
  ratio.value = std::log(tau(slow) / tau(fast));
  Evidence evidence(2 / alpha);
  for (std::size_t round = 0; round < rounds_; ++round) {
    evidence.add(log_taus_.at(slow)[round] - log_taus_.at(fast)[round]);
  }
  Interval found = evidence.interval();
  if (!std::isfinite(found.low) || !std::isfinite(found.high)) return ratio;
  const double centre = evidence.centre();
  found.low = std::min({found.low, centre - kLeastHalfWidth, ratio.value});
  found.high = std::max({found.high, centre + kLeastHalfWidth, ratio.value});
  ratio.interval = found;
  return ratio;
}

}  // namespace cachebisect

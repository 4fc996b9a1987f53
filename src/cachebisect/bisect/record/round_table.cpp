#include "cachebisect/bisect/record/round_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// A block counts for at most this many times the median: beyond that it met a stall.
constexpr double kStall = 2;

/// Where a time lies between those of ceiling (0) and live (1), on a log scale; in the middle if
/// these are alike or one is not known.
double nearness(double tau, double live, double ceiling) {
  if (live <= 0 || ceiling <= 0) return 0.5;
  const double gap = std::log(live / ceiling);
  return gap < kNegligible ? 0.5 : std::clamp(std::log(tau / ceiling) / gap, 0.0, 1.0);
}

double log_seconds_per_sample(const BlockResult& block) {
  return std::log(block.seconds / static_cast<double>(block.samples));
}

}  // namespace

RoundTable::RoundTable(std::vector<Arm> arms)
    : arms_(std::move(arms)), visits_(arms_.size(), 0), totals_(arms_.size()) {}

RoundTable RoundTable::of_boundaries(int stages) {
  std::vector<Arm> arms;
  for (int k = 0; k <= stages; ++k) arms.push_back({.boundary = k});
  return RoundTable(std::move(arms));
}

RoundTable RoundTable::with_arms(std::vector<Arm> arms) const {
  RoundTable result(std::move(arms));
  result.rounds_.assign(rounds_.size(), std::vector<Cell>(result.arms_.size()));
  result.super_rounds_ = super_rounds_;
  for (std::size_t to = 0; to < result.arms_.size(); ++to) {
    const auto column = find(result.arms_[to]);
    if (!column) continue;
    const std::size_t from = index(*column);
    result.visits_[to] = visits_[from];
    result.totals_[to] = totals_[from];
    for (std::size_t r = 0; r < rounds_.size(); ++r) result.rounds_[r][to] = rounds_[r][from];
  }
  return result;
}

std::optional<int> RoundTable::find(const Arm& arm) const {
  const auto found = std::find(arms_.begin(), arms_.end(), arm);
  if (found == arms_.end()) return std::nullopt;
  return static_cast<int>(found - arms_.begin());
}

RoundTable::OpenRound& RoundTable::open(int round) {
  const auto count = static_cast<std::size_t>(round) + 1;
  while (open_.size() < count) {
    open_.push_back({std::vector<Cell>(arms_.size()), std::vector<BlockResult>(arms_.size()), {}});
  }
  return open_[count - 1];
}

void RoundTable::add(int arm, const BlockResult& block, int round) {
  OpenRound& to = open(round);
  Cell& cell = to.cells.at(index(arm));
  cell.seconds = block.seconds;
  cell.samples = static_cast<double>(block.samples);
  to.blocks[index(arm)] = block;
}

void RoundTable::add_again(int arm, const BlockResult& block, int round) {
  Cell& cell = open(round).cells.at(index(arm));
  cell.again_seconds += block.seconds;
  cell.again_samples += static_cast<double>(block.samples);
}

void RoundTable::add_null(int arm, const BlockResult& block, int round) {
  open(round).null = {arm, log_seconds_per_sample(block)};
}

void RoundTable::commit(const OpenRound& round) {
  for (std::size_t arm = 0; arm < round.cells.size(); ++arm) {
    if (round.cells[arm].samples <= 0) continue;
    ++visits_[arm];
    totals_[arm].add(round.blocks[arm]);
  }
  rounds_.push_back(round.cells);
  if (!round.null) return;
  if (const auto own = log_tau(rounds() - 1, round.null->arm)) {
    null_log_ratios_.push_back(*own - round.null->log_tau);
  }
}

void RoundTable::commit() {
  super_rounds_.push_back({rounds(), open_.size()});
  for (const OpenRound& round : open_) commit(round);
  discard();
}

void RoundTable::commit_unfinished() {
  const std::vector<OpenRound> begun = std::exchange(open_, {});
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    int next = 0;
    for (const OpenRound& round : begun) {
      if (round.cells[arm].samples > 0) add(static_cast<int>(arm), round.blocks[arm], next++);
    }
  }
  for (const OpenRound& round : open_) {
    if (round.cells.front().samples > 0 && round.cells.back().samples > 0) commit(round);
  }
  discard();
}

void RoundTable::discard() { open_.clear(); }

std::optional<double> RoundTable::log_tau(std::size_t round, int arm) const {
  const Cell& cell = rounds_.at(round).at(index(arm));
  if (cell.samples <= 0 || cell.seconds <= 0) return std::nullopt;
  return std::log(cell.seconds / cell.samples);
}

std::vector<double> RoundTable::log_ratios(int slow, int fast) const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < rounds(); ++round) {
    const auto upper = log_tau(round, slow);
    const auto lower = log_tau(round, fast);
    if (upper && lower) ratios.push_back(*upper - *lower);
  }
  return ratios;
}

double RoundTable::seconds(int arm) const {
  double sum = 0;
  for (const auto& round : rounds_) {
    sum += round[index(arm)].seconds + round[index(arm)].again_seconds;
  }
  return sum;
}

std::vector<double> RoundTable::block_taus(int arm) const {
  std::vector<double> result;
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(arm)];
    if (cell.samples > 0) result.push_back(cell.seconds / cell.samples);
  }
  return result;
}

std::vector<double> RoundTable::all_block_taus(int arm) const {
  std::vector<double> result = block_taus(arm);
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(arm)];
    if (cell.again_samples > 0) result.push_back(cell.again_seconds / cell.again_samples);
  }
  return result;
}

double RoundTable::mean_alongside(int measured, int companion, double max_tau) const {
  double sum = 0;
  double count = 0;
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(measured)];
    if (cell.samples <= 0 || round[index(companion)].samples <= 0) continue;
    sum += std::min(max_tau, cell.seconds / cell.samples);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double RoundTable::Pace::log_change() const noexcept {
  return alongside > 0 ? std::log(overall / alongside) : 0;
}

RoundTable::Pace RoundTable::pace(int anchor, int companion) const {
  const std::vector<double> blocks = block_taus(anchor);
  if (blocks.empty()) return {};
  const double max_tau = kStall * median(blocks);
  return {mean_alongside(anchor, companion, max_tau), mean_alongside(anchor, anchor, max_tau)};
}

int RoundTable::last_of_all_rounds() const {
  int column = last();
  while (column > 0 && visits(column) != static_cast<int>(rounds())) --column;
  return column;
}

double RoundTable::tau(int arm) const {
  Cell sum;
  for (const auto& round : rounds_) {
    sum.seconds += round[index(arm)].mean_seconds();
    sum.samples += round[index(arm)].samples;
  }
  if (sum.samples <= 0) return 0;
  const double own = sum.seconds / sum.samples;
  if (visits(arm) == static_cast<int>(rounds())) return own;
  const Pace live = pace(0, arm);
  const Pace ceiling = pace(last_of_all_rounds(), arm);
  const double share = nearness(own, live.alongside, ceiling.alongside);
  return own * std::exp(share * live.log_change() + (1 - share) * ceiling.log_change());
}

}  // namespace cachebisect

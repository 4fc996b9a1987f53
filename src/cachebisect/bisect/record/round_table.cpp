#include "cachebisect/bisect/record/round_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

/// A block this many times as long as the median met a stall.
constexpr double kStall = 2;

}  // namespace

RoundTable::RoundTable(int stages) : open_(index(stages) + 1), visits_(index(stages) + 1, 0) {}

void RoundTable::add(int boundary, double seconds, std::uint64_t samples) {
  Cell& cell = open_.at(index(boundary));
  cell.seconds = seconds;
  cell.samples = static_cast<double>(samples);
}

void RoundTable::add_again(int boundary, double seconds, std::uint64_t samples) {
  Cell& cell = open_.at(index(boundary));
  cell.again_seconds += seconds;
  cell.again_samples += static_cast<double>(samples);
}

void RoundTable::commit() {
  for (std::size_t k = 0; k < open_.size(); ++k) visits_[k] += open_[k].samples > 0 ? 1 : 0;
  rounds_.push_back(std::exchange(open_, std::vector<Cell>(open_.size())));
}

void RoundTable::discard() { open_.assign(open_.size(), {}); }

std::vector<int> RoundTable::visited_boundaries(int least_visits) const {
  std::vector<int> result;
  for (int k = 0; k <= stages(); ++k) {
    const int least = k == 0 || k == stages() ? 1 : least_visits;
    if (visits(k) >= least) result.push_back(k);
  }
  return result;
}

std::optional<double> RoundTable::log_tau(std::size_t round, int boundary) const {
  const Cell& cell = rounds_.at(round).at(index(boundary));
  if (cell.samples <= 0 || cell.seconds <= 0) return std::nullopt;
  return std::log(cell.seconds / cell.samples);
}

std::pair<int, int> RoundTable::visited_around(std::size_t round, int from, int to) const {
  const auto& cells = rounds_.at(round);
  while (from > 0 && cells.at(index(from)).samples <= 0) --from;
  while (to < stages() && cells.at(index(to)).samples <= 0) ++to;
  return {from, to};
}

std::optional<double> RoundTable::median_loss(int from, int to) const {
  std::vector<double> losses;
  for (std::size_t round = 0; round < rounds(); ++round) {
    const auto upstream = log_tau(round, from);
    const auto downstream = log_tau(round, to);
    if (upstream && downstream) losses.push_back(*upstream - *downstream);
  }
  return losses.empty() ? std::nullopt : std::optional(median(losses));
}

double RoundTable::excess_of_mean(int from, int to, double log_drop) const {
  double sum = 0;
  double squares = 0;
  for (std::size_t round = 0; round < rounds(); ++round) {
    const auto upstream = log_tau(round, from);
    const auto downstream = log_tau(round, to);
    if (!upstream || !downstream) continue;
    const double excess = std::exp(*upstream - log_drop) - std::exp(*downstream);
    sum += excess;
    squares += excess * excess;
  }
  return squares > 0 ? sum / std::sqrt(squares) : 0;
}

double RoundTable::seconds(int boundary) const {
  double sum = 0;
  for (const auto& round : rounds_) {
    sum += round[index(boundary)].seconds + round[index(boundary)].again_seconds;
  }
  return sum;
}

std::vector<std::optional<double>> RoundTable::levels() const {
  std::vector<std::optional<double>> levels(open_.size());
  levels.back() = 0;
  levels.front() = median_loss(0, stages()).value_or(0);
  std::vector<int> order = visited_boundaries();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return visits(a) > visits(b); });
  for (const int k : order) {
    if (levels[index(k)]) continue;
    int before = k - 1;
    while (!levels[index(before)]) --before;
    int after = k + 1;
    while (!levels[index(after)]) ++after;
    const double span = *levels[index(before)] - *levels[index(after)];
    const auto upstream = median_loss(before, k);
    const auto downstream = median_loss(k, after);
    if (!upstream || !downstream) {
      levels[index(k)] = median_loss(k, stages());
      continue;
    }
    const double misfit = span - *upstream - *downstream;
    levels[index(k)] = *levels[index(after)] + *downstream + 0.5 * misfit;
  }
  return levels;
}

std::vector<double> RoundTable::block_taus(int boundary) const {
  std::vector<double> result;
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(boundary)];
    if (cell.samples > 0) result.push_back(cell.seconds / cell.samples);
  }
  return result;
}

std::vector<double> RoundTable::all_block_taus(int boundary) const {
  std::vector<double> result = block_taus(boundary);
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(boundary)];
    if (cell.again_samples > 0) result.push_back(cell.again_seconds / cell.again_samples);
  }
  return result;
}

double RoundTable::mean_beside(int measured, int companion, double most) const {
  double sum = 0;
  double count = 0;
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(measured)];
    if (cell.samples <= 0 || round[index(companion)].samples <= 0) continue;
    sum += std::min(most, cell.seconds / cell.samples);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double RoundTable::tau(int boundary) const {
  Cell sum;
  for (const auto& round : rounds_) {
    sum.seconds += round[index(boundary)].mean_seconds();
    sum.samples += round[index(boundary)].samples;
  }
  if (sum.samples <= 0) return 0;
  const double own = sum.seconds / sum.samples;
  if (visits(boundary) == static_cast<int>(rounds())) return own;
  double factor = 1;
  for (const int anchor : {0, stages()}) {
    const std::vector<double> blocks = block_taus(anchor);
    if (blocks.empty()) continue;
    const double most = kStall * median(blocks);
    // The anchor's time in the rounds that visited this boundary, and in all rounds.
    const double then = mean_beside(anchor, boundary, most);
    if (then > 0) factor *= std::sqrt(mean_beside(anchor, anchor, most) / then);
  }
  return own * factor;
}

}  // namespace cachebisect

#include "cachebisect/bisect/round_table.hpp"

#include <cmath>
#include <utility>

namespace cachebisect {

RoundTable::RoundTable(int stages) : open_(index(stages) + 1), visits_(index(stages) + 1, 0) {}

void RoundTable::add(int boundary, double seconds, std::uint64_t samples) {
  open_.at(index(boundary)) = {seconds, static_cast<double>(samples)};
}

void RoundTable::commit() {
  for (std::size_t k = 0; k < open_.size(); ++k) visits_[k] += open_[k].samples > 0 ? 1 : 0;
  rounds_.push_back(std::exchange(open_, std::vector<Cell>(open_.size())));
}

void RoundTable::discard() { open_.assign(open_.size(), {}); }

std::vector<int> RoundTable::visited_boundaries() const {
  std::vector<int> result;
  for (int k = 0; k <= stages(); ++k) {
    if (visited(k)) result.push_back(k);
  }
  return result;
}

std::optional<double> RoundTable::log_tau(std::size_t round, int boundary) const {
  const Cell& cell = rounds_.at(round).at(index(boundary));
  if (cell.samples <= 0 || cell.seconds <= 0) return std::nullopt;
  return std::log(cell.seconds / cell.samples);
}

std::vector<double> RoundTable::block_taus(int boundary) const {
  std::vector<double> result;
  for (const auto& round : rounds_) {
    const Cell& cell = round[index(boundary)];
    if (cell.samples > 0) result.push_back(cell.seconds / cell.samples);
  }
  return result;
}

double RoundTable::tau_beside(int boundary, int companion) const {
  Cell sum;
  for (const auto& round : rounds_) {
    if (round[index(companion)].samples <= 0) continue;
    sum.seconds += round[index(boundary)].seconds;
    sum.samples += round[index(boundary)].samples;
  }
  return sum.samples > 0 ? sum.seconds / sum.samples : 0;
}

double RoundTable::tau(int boundary) const {
  const double own = tau_beside(boundary, boundary);
  if (visits(boundary) == static_cast<int>(rounds())) return own;
  double factor = 1;
  for (const int anchor : {0, stages()}) {
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the anchor's time, beside this boundary
    const double then = tau_beside(anchor, boundary);
    if (then > 0) factor *= std::sqrt(tau_beside(anchor, anchor) / then);
  }
  return own * factor;
}

}  // namespace cachebisect

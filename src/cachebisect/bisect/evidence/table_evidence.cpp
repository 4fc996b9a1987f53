#include "cachebisect/bisect/evidence/table_evidence.hpp"

#include <vector>

namespace cachebisect {

void TableEvidence::update(const RoundTable& rounds, const Columns& columns) {
  for (; super_rounds_ < rounds.super_rounds().size(); ++super_rounds_) {
    const SuperRound& next = rounds.super_rounds()[super_rounds_];
    add_values(rounds, columns, next.first);
    add(rounds, columns, next);
  }
  add_values(rounds, columns, rounds.rounds());
}

/// Adds the values of rounds that are not evidence.
void TableEvidence::add_values(const RoundTable& rounds, const Columns& columns,
                               std::size_t until) {
  for (; rounds_ < until; ++rounds_) {
    const auto [slow, fast] = columns(rounds_);
    const auto upper = rounds.log_tau(rounds_, slow);
    const auto lower = rounds.log_tau(rounds_, fast);
    if (upper && lower) sequence_.add_value_only(*upper - *lower);
  }
}

void TableEvidence::add(const RoundTable& rounds, const Columns& columns,
                        const SuperRound& super_round) {
  const auto [slow, fast] = columns(super_round.first);
  std::vector<double> uppers;
  std::vector<double> lowers;
  for (std::size_t i = 0; i < super_round.rounds; ++i) {
    const auto upper = rounds.log_tau(super_round.first + i, slow);
    const auto lower = rounds.log_tau(super_round.first + i, fast);
    if (!upper || !lower) continue;
    uppers.push_back(*upper);
    lowers.push_back(*lower);
  }
  if (!uppers.empty()) sequence_.add(uppers, lowers);
  rounds_ = super_round.first + super_round.rounds;
}

}  // namespace cachebisect

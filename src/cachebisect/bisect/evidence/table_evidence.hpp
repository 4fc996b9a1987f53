// Evidence about two arms from the rounds of a table, brought up to date as rounds are added.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/rank_sequence.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API TableEvidence {
 public:
  /// Columns of the slow and of the fast arm in a round.
  using Columns = std::function<std::pair<int, int>(std::size_t round)>;

  explicit TableEvidence(double threshold) : sequence_(threshold) {}

  /// Takes the rounds that it has not seen and that ran both arms; `rounds` only grows from call to
  /// call. The columns of all rounds of a super-round are those of its first.
  void update(const RoundTable& rounds, const Columns& columns);
  /// The same for one pair of columns.
  void update(const RoundTable& rounds, int slow, int fast) {
    update(rounds, [&](std::size_t) { return std::pair{slow, fast}; });
  }
  [[nodiscard]] const ConfidenceSequence& sequence() const noexcept { return sequence_; }

 private:
  void add_values(const RoundTable& rounds, const Columns& columns, std::size_t until);
  void add(const RoundTable& rounds, const Columns& columns, const SuperRound& super_round);

  RankSequence sequence_;
  std::size_t super_rounds_ = 0;  ///< processed
  std::size_t rounds_ = 0;        ///< processed
};

}  // namespace cachebisect

// What each arm measured in each complete round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/block_totals.hpp"
#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/block.hpp"

namespace cachebisect {

/// Blocks of an arm in a super-round. Of three and three, twenty orders of two arms are possible,
/// and two such super-rounds can certify at 1 / 222.
inline constexpr int kUsualRepeats = 3;
/// The most. Of six and six, 924 orders are possible: one such super-round certifies at 1 / 400.
inline constexpr int kMaxRepeats = 6;

/// Rounds whose blocks ran in one random order: any of an arm's blocks may have the place of any
/// other arm's.
struct SuperRound {
  std::size_t first = 0;  ///< round
  std::size_t rounds = 0;
  friend bool operator==(const SuperRound&, const SuperRound&) = default;
};

/// One row per round, one column per arm. A round may leave arms out. All figures are those of
/// committed rounds. Times are in seconds. A plain value; not thread safe.
class CACHEBISECT_INTERNAL_API RoundTable {
 public:
  RoundTable() = default;  ///< without arms
  explicit RoundTable(std::vector<Arm> arms);
  /// The replays at boundaries 0..stages: column k is boundary k. `stages` is at least 1.
  [[nodiscard]] static RoundTable of_boundaries(int stages);

  /// The same rounds with other columns: arms that this table lacks ran in none of them.
  [[nodiscard]] RoundTable with_arms(std::vector<Arm> arms) const;

  /// `round`: of the open super-round, from 0.
  void add(int arm, const BlockResult& block, int round = 0);
  /// A second block of an arm in the same round. It counts for means (tau(), seconds(),
  /// all_block_taus()), but not as evidence, which compares single blocks.
  void add_again(int arm, const BlockResult& block, int round = 0);
  /// A null block: the arm measured once more under the same conditions.
  void add_null(int arm, const BlockResult& block, int round = 0);
  void commit();   ///< the super-round is complete
  void discard();  ///< the super-round does not count
  /// The super-round ended early: as many rounds count as the first and the last arm have blocks,
  /// but not as evidence.
  void commit_unfinished();

  [[nodiscard]] const std::vector<Arm>& arms() const noexcept { return arms_; }
  /// Column of an arm; empty if there is none.
  [[nodiscard]] std::optional<int> find(const Arm& arm) const;
  /// The last column.
  [[nodiscard]] int last() const noexcept { return static_cast<int>(arms_.size()) - 1; }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_.size(); }
  /// Those that are evidence; rounds that belong to none are not.
  [[nodiscard]] const std::vector<SuperRound>& super_rounds() const noexcept {
    return super_rounds_;
  }
  /// Complete rounds that ran this arm.
  [[nodiscard]] int visits(int arm) const { return visits_.at(index(arm)); }
  [[nodiscard]] bool visited(int arm) const { return visits(arm) > 0; }
  [[nodiscard]] bool visited_in(std::size_t round, int arm) const {
    return rounds_.at(round).at(index(arm)).samples > 0;
  }

  /// log(seconds per sample) in a round; empty if the round did not run this arm.
  [[nodiscard]] std::optional<double> log_tau(std::size_t round, int arm) const;
  /// log tau(slow) - log tau(fast) of each round that ran both, in order.
  [[nodiscard]] std::vector<double> log_ratios(int slow, int fast) const;
  /// Seconds per sample of this arm's first block in each round that ran it.
  [[nodiscard]] std::vector<double> block_taus(int arm) const;
  /// The same, followed by those of second blocks.
  [[nodiscard]] std::vector<double> all_block_taus(int arm) const;
  /// Timed seconds of all blocks of this arm.
  [[nodiscard]] double seconds(int arm) const;
  /// Sums over the first blocks of this arm.
  [[nodiscard]] const BlockTotals& totals(int arm) const { return totals_.at(index(arm)); }
  /// Seconds per sample: all seconds over all samples; 0 without blocks. A round with two blocks
  /// counts with their mean. An arm that missed rounds is compared with the first and the last arm
  /// that every round runs, in the rounds that it did not miss: the figure is this ratio times
  /// their time in all rounds. The nearer of the two counts more, because the machine may slow
  /// them differently. Stalls in them are capped. So neither drift nor stalls look like a drop.
  [[nodiscard]] double tau(int arm) const;
  /// log tau of the arm minus log tau of its null block, per null block.
  [[nodiscard]] const std::vector<double>& null_log_ratios() const noexcept {
    return null_log_ratios_;
  }
  /// True if they hold the same complete rounds.
  friend bool operator==(const RoundTable& a, const RoundTable& b) {
    return a.arms_ == b.arms_ && a.rounds_ == b.rounds_ && a.super_rounds_ == b.super_rounds_ &&
           a.visits_ == b.visits_ && a.null_log_ratios_ == b.null_log_ratios_;
  }

 private:
  struct Cell {
    double seconds = 0;
    double samples = 0;  ///< 0: not run
    double again_seconds = 0;
    double again_samples = 0;
    /// Seconds for `samples` samples, averaged over all blocks of the round.
    [[nodiscard]] double mean_seconds() const noexcept {
      return again_samples > 0 ? samples * (seconds + again_seconds) / (samples + again_samples)
                               : seconds;
    }
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  struct Null {
    int arm = 0;
    double log_tau = 0;
  };
  /// A round that is not committed.
  struct OpenRound {
    std::vector<Cell> cells;
    std::vector<BlockResult> blocks;
    std::optional<Null> null;
  };
  /// The pace of the first or the last arm, in seconds per sample.
  struct Pace {
    double alongside = 0;  ///< mean over the rounds that also ran some other arm; 0: none did
    double overall = 0;    ///< mean over all rounds
    /// How much slower all rounds were.
    [[nodiscard]] double log_change() const noexcept;
  };
  static std::size_t index(int arm) { return static_cast<std::size_t>(arm); }
  OpenRound& open(int round);
  void commit(const OpenRound& round);
  /// Mean seconds per sample of `measured` over the rounds that also ran `companion`; no block
  /// counts for more than `max_tau`. 0 if there are no such rounds.
  [[nodiscard]] double mean_alongside(int measured, int companion, double max_tau) const;
  [[nodiscard]] Pace pace(int anchor, int companion) const;
  /// The last column that every round has run: the ceiling, or one that was compared with it.
  [[nodiscard]] int last_of_all_rounds() const;

  std::vector<Arm> arms_;
  std::vector<std::vector<Cell>> rounds_;
  std::vector<SuperRound> super_rounds_;
  std::vector<OpenRound> open_;
  std::vector<int> visits_;
  std::vector<BlockTotals> totals_;
  std::vector<double> null_log_ratios_;
};

}  // namespace cachebisect

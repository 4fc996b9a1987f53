// What was measured: seconds and samples of each boundary in each complete round.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Boundaries 0..n. Only committed rounds are read; times are seconds.
class CACHEBISECT_API RoundTable {
 public:
  /// `stages`: n, at least 1.
  explicit RoundTable(int stages);

  void add(int boundary, double seconds, std::uint64_t samples);
  /// A second block of a boundary in the same round: counts for tau() alone, as evidence compares
  /// one block with one.
  void add_again(int boundary, double seconds, std::uint64_t samples);
  void commit();   ///< the round is complete
  void discard();  ///< it is not: thrown away

  [[nodiscard]] int stages() const noexcept { return static_cast<int>(visits_.size()) - 1; }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_.size(); }
  [[nodiscard]] int visits(int boundary) const { return visits_.at(index(boundary)); }
  [[nodiscard]] bool visited(int boundary) const { return visits(boundary) > 0; }
  /// Boundaries visited in so many complete rounds, ascending; 0 and n if in any at all.
  [[nodiscard]] std::vector<int> visited_boundaries(int least_visits = 1) const;
  /// log(seconds a sample) in a round; none where the round did not visit it.
  [[nodiscard]] std::optional<double> log_tau(std::size_t round, int boundary) const;
  /// The nearest boundaries that a round visited, at or before the first and at or after the
  /// second; every round visits 0 and n.
  [[nodiscard]] std::pair<int, int> visited_around(std::size_t round, int from, int to) const;
  /// Median over the rounds that visited both of log tau(from) - log tau(to); none without such.
  [[nodiscard]] std::optional<double> median_loss(int from, int to) const;
  /// How far the mean of tau(from) lies above exp(log_drop) times that of tau(to), over the rounds
  /// that visited both, in errors: the self-normalised sum, beyond x with a probability of at most
  /// exp(-x^2 / 2) if `log_drop` is the centre of symmetric noise. 0 without such rounds.
  [[nodiscard]] double excess_of_mean(int from, int to, double log_drop) const;
  /// Timed seconds of all blocks of this boundary.
  [[nodiscard]] double seconds(int boundary) const;
  /// log tau(k) - log tau(n) of each boundary k; none where it was not visited. Boundaries with
  /// fewer rounds are fitted in between those with more, so that losses of spans are kept.
  [[nodiscard]] std::vector<std::optional<double>> levels() const;
  /// Seconds a sample of every block of this boundary.
  [[nodiscard]] std::vector<double> block_taus(int boundary) const;
  /// The same, second blocks of a round among them.
  [[nodiscard]] std::vector<double> all_block_taus(int boundary) const;
  /// All seconds over all samples; a round with two blocks counts with their mean. A boundary that
  /// missed rounds is scaled by what the missed rounds did to boundaries 0 and n, which every round
  /// visits, stalls in them left out: neither drift nor stalls must look like a drop.
  [[nodiscard]] double tau(int boundary) const;

 private:
  struct Cell {
    double seconds = 0;
    double samples = 0;  ///< 0: not visited
    double again_seconds = 0;
    double again_samples = 0;
    /// Seconds that `samples` took by all blocks of the round.
    [[nodiscard]] double mean_seconds() const noexcept {
      return again_samples > 0 ? samples * (seconds + again_seconds) / (samples + again_samples)
                               : seconds;
    }
  };
  static std::size_t index(int boundary) { return static_cast<std::size_t>(boundary); }
  /// Mean seconds a sample of `measured` over the rounds that visit `companion` too, no block
  /// counted as more than so many; 0 without such.
  [[nodiscard]] double mean_beside(int measured, int companion, double most) const;

  std::vector<std::vector<Cell>> rounds_;
  std::vector<Cell> open_;
  std::vector<int> visits_;
};

}  // namespace cachebisect

// The evidence of every part of the chain that anybody asks about, kept up to date with the rounds,
// each with its share of the error that may be made.
//
// Why opening spans by what the rounds showed keeps the error: a drop is only ever named at a part
// that nothing can open, and the shares of those sum to 1, whatever was looked at on the way. And a
// claim that ALL others are small errs only if it errs about the one that is not, so each of them
// is tested at the full level; its bets follow it through every span that held it (a span's drop is
// not below that of a stage in it), so it is one test, however the spans were chosen after each
// round.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/evidence.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// A stage, or several whose boundaries between were not visited: from boundary `from` to `to`.
struct Part {
  int from = 0;
  int to = 0;
  [[nodiscard]] bool single() const noexcept { return to - from == 1; }
  friend bool operator==(const Part&, const Part&) = default;
  // The check takes the comparison with zero that the compiler writes for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// Weights: 1/2 to the stages that the pilot named, 1/2 to the others, 1 to the whole loss.
class CACHEBISECT_API Ledger {
 public:
  /// Keeps a reference to `rounds`.
  Ledger(const RoundTable& rounds, double confidence);

  /// `suspects`: stages (1-based) that the pilot names. Call before stages have evidence.
  void name_suspects(const std::vector<int>& suspects);
  /// The share of the error that a part may use; 1 for the whole chain.
  [[nodiscard]] double weight(const Part& part) const;
  /// Up to date with all committed rounds that visited both ends.
  [[nodiscard]] const Evidence& pair(const Part& part);
  /// For tests of "drops at least this much" alone: in each round the narrowest visited pair that
  /// holds the part, at the full level.
  [[nodiscard]] const Evidence& cover(const Part& part);
  [[nodiscard]] const RoundTable& rounds() const noexcept { return *rounds_; }
  [[nodiscard]] Part whole() const noexcept { return {0, rounds_->stages()}; }
  [[nodiscard]] double alpha() const noexcept { return alpha_; }

 private:
  struct Entry {
    Evidence evidence;
    std::size_t seen = 0;  ///< rounds looked at
  };

  using Entries = std::map<Part, Entry>;
  static Entry& find(Entries& entries, const Part& part, double threshold);

  const RoundTable* rounds_;
  double alpha_;
  std::vector<double> weights_;  ///< by stage, 0-based
  Entries pairs_;
  Entries covers_;
};

}  // namespace cachebisect

// The evidence about each part of the chain, kept up to date with the rounds, each part with its
// share of the error that may be made.
//
// Why opening spans by what the rounds showed keeps the error: a drop is only ever named at a part
// that cannot be opened, and the shares of those parts sum to 1, whatever was visited on the way.
// And a claim that ALL others are small errs only if it errs about the one that is not. So each of
// them is tested at the full level. Its bets follow it through every span that held it (the drop of
// a span is not below that of a stage in it), so it is one test, however the spans were chosen
// after each round.
#pragma once

#include <map>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/bisect/evidence/part.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Shares of the error: 1/2 for the stages that the pilot suspects, 1/2 for the others, 1 for the
/// whole loss. Not thread safe.
class CACHEBISECT_INTERNAL_API PartEvidence {
 public:
  /// `rounds`: a table of boundaries; a reference is kept. `suspects`: stages (1-based).
  PartEvidence(const RoundTable& rounds, double confidence, const std::vector<int>& suspects = {});

  /// The share of the error that a part may use; 1 for the whole chain.
  [[nodiscard]] double weight(const Part& part) const;
  /// Up to date with all committed rounds that visited both ends.
  [[nodiscard]] const ConfidenceSequence& pair(const Part& part);
  /// For tests of "drops at least this much" alone: in each round the narrowest visited pair that
  /// holds the part, at the full level.
  [[nodiscard]] const ConfidenceSequence& cover(const Part& part);
  [[nodiscard]] const RoundTable& rounds() const noexcept { return *rounds_; }
  [[nodiscard]] Part whole() const noexcept { return {0, rounds_->last()}; }

 private:
  struct Entry {
    ConfidenceSequence sequence;
    std::size_t seen = 0;  ///< rounds added
  };

  using Entries = std::map<Part, Entry>;
  static Entry& find(Entries& entries, const Part& part, double threshold);
  void suspect(const std::vector<int>& suspects);

  const RoundTable* rounds_;
  double alpha_;
  std::vector<double> weights_;  ///< by stage, 0-based
  Entries pairs_;
  Entries covers_;
};

}  // namespace cachebisect

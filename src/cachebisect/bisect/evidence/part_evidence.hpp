// Evidence about each part of the chain, updated with the rounds. Each part has its share of the
// allowed error.
//
// Why choosing spans by the results so far does not raise the error: a drop is named only at a part
// that cannot be opened, and the shares of those parts sum to 1, whatever was visited on the way.
// The claim that ALL other parts are small is wrong only if it is wrong about one that is not
// small, so each of them is tested at the full level. That test follows a part through every span
// that contained it (the drop of a span is not below that of a stage in it), so it is a single
// test, however the spans were chosen after each round.
#pragma once

#include <map>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/part.hpp"
#include "cachebisect/bisect/evidence/table_evidence.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Shares of the error: kMainShare for the stages that the pilot suspects and the rest for the
/// others, split evenly; 1 for the whole loss. Not thread safe.
class CACHEBISECT_INTERNAL_API PartEvidence {
 public:
  /// `rounds`: a table of boundaries; a reference is kept. `suspects`: stages (1-based); empty: all
  /// stages share evenly.
  PartEvidence(const RoundTable& rounds, double confidence, const std::vector<int>& suspects = {});

  /// The share of the error that a part may use; 1 for the whole chain.
  [[nodiscard]] double weight(const Part& part) const;
  /// The evidence of all committed rounds that visited both ends.
  [[nodiscard]] const ConfidenceSequence& pair(const Part& part);
  /// Only to reject "the drop is at least this much", at the full level. Takes, in each round, the
  /// narrowest pair of visited boundaries that contains the part.
  [[nodiscard]] const ConfidenceSequence& cover(const Part& part);
  [[nodiscard]] const RoundTable& rounds() const noexcept { return *rounds_; }
  [[nodiscard]] Part whole() const noexcept { return {0, rounds_->last()}; }

 private:
  using Entries = std::map<Part, TableEvidence>;
  static TableEvidence& find(Entries& entries, const Part& part, double threshold);
  void suspect(const std::vector<int>& suspects);

  const RoundTable* rounds_;
  double alpha_;
  std::vector<double> weights_;  ///< by stage, 0-based
  Entries pairs_;
  Entries covers_;
};

}  // namespace cachebisect

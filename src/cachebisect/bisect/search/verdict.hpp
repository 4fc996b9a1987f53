// Which verdict the findings support: the first that holds of anomaly, drop, spread, flat.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/bisect/search/plan.hpp"

namespace cachebisect {

struct Decision {
  VerdictKind kind = VerdictKind::inconclusive;
  bool settled = false;             ///< nothing to wait for but the resolution of ties
  std::optional<std::size_t> part;  ///< index in findings.parts; none: the whole chain
};

/// `plan` says which spans could still be opened: an open question, not a verdict.
CACHEBISECT_API Decision decide(const Findings& findings, const Plan& plan, double min_drop);

/// Drops of the parts that hold half of the loss, largest first: the fewest.
CACHEBISECT_API std::vector<std::size_t> half_of_loss(const Findings& findings);

/// What rounds of this noise can certify, and how many a question needs. `sigma`: the robust
/// standard deviation of a round's log drop; `weight`: of the error.
struct CACHEBISECT_API Power {
  double sigma = 0.01;
  double alpha = 0.01;
  double weight = 0.5;
  /// -log of the bar over what one round can win at most: no symmetric test does with fewer.
  [[nodiscard]] int least_rounds() const;
  /// Rounds to tell a log drop from another that is `distance` away.
  [[nodiscard]] int rounds_for(double distance) const;
  /// The smallest distance that so many rounds can tell; none for too few rounds.
  [[nodiscard]] std::optional<double> distance_in(double rounds) const;
};

}  // namespace cachebisect

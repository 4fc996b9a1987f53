// Which verdict the findings support: the first that holds of anomaly, drop, spread, flat.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/evidence/verdict_kind.hpp"

namespace cachebisect {

struct Decision {
  VerdictKind kind = VerdictKind::inconclusive;
  bool settled = false;             ///< nothing to wait for but the resolution of ties
  std::optional<std::size_t> part;  ///< index in findings.parts; empty: the whole chain

  [[nodiscard]] bool certified() const noexcept { return kind != VerdictKind::inconclusive; }
};

/// True if a candidate boundary lies between the ends of a part, so that it can be opened.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool can_open(const Part& part,
                                                     const std::vector<int>& candidates);

/// `candidates`: the boundaries that can be visited. A span that can still be opened is an open
/// question, not a verdict.
[[nodiscard]] CACHEBISECT_INTERNAL_API Decision decide(const Findings& findings,
                                                       const std::vector<int>& candidates,
                                                       double min_drop);

/// The fewest parts that hold half of the loss, the largest drop first: indices in findings.parts.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::size_t> half_of_loss(
    const Findings& findings);

}  // namespace cachebisect

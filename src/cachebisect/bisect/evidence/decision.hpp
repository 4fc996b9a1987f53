// Which verdict the findings support: the first of anomaly, drop, spread and flat that holds. An
// anomaly that cannot be why a part seems to lose is a warning next to its drop.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/evidence/verdict_kind.hpp"

namespace cachebisect {

struct Decision {
  VerdictKind kind = VerdictKind::inconclusive;
  bool settled = false;             ///< no tie and no possible anomaly left to wait for
  bool only_tied = false;           ///< nothing but a tie is left to wait for
  std::optional<std::size_t> part;  ///< index in Findings::parts; empty: the whole chain

  [[nodiscard]] bool certified() const noexcept { return kind != VerdictKind::inconclusive; }
};

/// True if a candidate boundary lies inside a part, so that the part can be opened there.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool can_open(const Part& part,
                                                     const std::vector<int>& candidates);

/// `candidates`: the boundaries that can be visited. No drop is certified at a span that can still
/// be opened.
[[nodiscard]] CACHEBISECT_INTERNAL_API Decision decide(const Findings& findings,
                                                       const std::vector<int>& candidates,
                                                       double min_drop);

/// The fewest parts that make up half of the loss, as indices in Findings::parts, the largest drop
/// first.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::size_t> half_of_loss(
    const Findings& findings);

/// Where the centre of blocks excludes a loss above the bar and their mean does not: widens the
/// whole loss to what it may be by the mean.
CACHEBISECT_INTERNAL_API void hold_mean(const Decision& decision, double min_drop,
                                        Findings& findings);

}  // namespace cachebisect

// What live loses in stalls, by everything that was watched of it.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/evidence/stalls.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

struct LiveStalls {
  StalledShare share;       ///< of live, in all blocks and in the run in one piece
  bool of_machine = false;  ///< the training step alone stalls about as much
};

/// `measured` holds a run of live in one piece.
[[nodiscard]] CACHEBISECT_INTERNAL_API LiveStalls live_stalls(const Measurements& measured);

/// True if live loses more in stalls than the part costs that leads, of which the rounds have met
/// too few to tell. False without a run in one piece, or if no part leads.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool stalls_outweigh(const Measurements& measured,
                                                            const Findings& findings,
                                                            const Decision& decision);

}  // namespace cachebisect

// Arms that say nothing about the verdict, but are compared with live and the ceiling: they may run
// in the rounds of the verdict, where both are measured anyway.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

struct VerdictState;

/// Not thread safe.
class CACHEBISECT_INTERNAL_API ExtraArms {
 public:
  virtual ~ExtraArms();
  /// The extra blocks of the next round; may be empty. `state` and `rounds`: of the verdict so far.
  /// May run pilot blocks; throws as BlockRunner::run does.
  [[nodiscard]] virtual std::vector<PlannedBlock> next(const VerdictState& state,
                                                       const RoundTable& rounds) = 0;
  /// Takes the rounds that had extra blocks, those of live and the ceiling included.
  [[nodiscard]] virtual RoundTable& table() = 0;
};

}  // namespace cachebisect

// Scores what-ifs on planted chains: their predictions against the truth of the changed chain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/selftest/draw.hpp"

namespace cachebisect::truth {

/// One what-if of one chain. Rates are samples/s.
struct WhatIfScore {
  std::string change;
  std::string planted;  ///< kind, or the chain's shape if nothing is planted
  double predicted = 0;
  std::optional<Interval> interval;
  std::optional<Estimate> measured;  ///< by --verify
  double truth = 0;

  [[nodiscard]] double error() const;  ///< |predicted / truth - 1|
  [[nodiscard]] bool covered() const;
};

/// The what-ifs to ask of a chain: the stage with the largest drop free and at half its cost, and
/// twice the workers; of a flat chain the training step at half its cost, and one worker more.
std::vector<std::string> what_ifs_of(const selftest::PlantedChain& planted);
/// The chain with a what-if applied. Throws Error(usage) for one that does not apply to it.
SimulatedChain changed(const SimulatedChain& chain, const std::string& what_if);
/// Samples/s of the live chain in the long run, in virtual time.
double true_rate(const SimulatedChain& chain);
/// What a prediction is compared with.
enum class WhatIfTruth {
  rate,  ///< the changed chain's rate in a long run without noise
  gain,  ///< its gain over the unchanged chain, times the report's live rate: for a machine whose
         ///< speed varies
  plan,  ///< the rate that the changed chain is planned to have in real time, if cores are free
};

/// One score per what-if of the report that has a prediction.
std::vector<WhatIfScore> score_what_ifs(const Report& report, const selftest::PlantedChain& planted,
                                        WhatIfTruth truth = WhatIfTruth::rate);
/// A table of errors and coverage: of all, by form of the change and by what was planted.
std::string what_if_summary(const std::vector<WhatIfScore>& scores);
std::string what_if_row(const WhatIfScore& score);

}  // namespace cachebisect::truth

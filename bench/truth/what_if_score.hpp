// Scores what-ifs on planted chains: predicted against the truth of the changed chain.
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
  std::string planted;  ///< kind, or the chain's shape where nothing is planted
  double predicted = 0;
  std::optional<Interval> interval;
  std::optional<Estimate> measured;  ///< by --verify
  double truth = 0;

  [[nodiscard]] double error() const;  ///< |predicted / truth - 1|
  [[nodiscard]] bool covered() const;
};

/// What to ask of a chain: the stage with the largest drop for free and at half its cost, twice the
/// workers; of a flat chain the training step at half its cost and one worker more.
std::vector<std::string> what_ifs_of(const selftest::PlantedChain& planted);
/// The chain with a what-if in force. Throws Error(usage) for one that means nothing to it.
SimulatedChain changed(const SimulatedChain& chain, const std::string& what_if);
/// Samples/s of the live chain in the long run, in virtual time.
double true_rate(const SimulatedChain& chain);
/// What a prediction is held against.
enum class WhatIfTruth {
  rate,  ///< the changed chain's long run in silence
  gain,  ///< what that gains on the unchanged one, times the live figure of the report: on a
         ///< machine that is slower at times nobody knows the rate, but the change helps as much
  plan,  ///< the rate that the changed chain is planned to have in real time, where cores are free
};

/// One a what-if of the report that has a prediction.
std::vector<WhatIfScore> score_what_ifs(const Report& report, const selftest::PlantedChain& planted,
                                        WhatIfTruth truth = WhatIfTruth::rate);
/// Errors and coverage of all of them, and by form of the change.
std::string what_if_summary(const std::vector<WhatIfScore>& scores);
std::string what_if_row(const WhatIfScore& score);

}  // namespace cachebisect::truth

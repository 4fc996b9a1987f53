// Runs of the bisector whose measurements a test changes before they are analysed.
#pragma once

#include "cachebisect/bisect/analysis.hpp"
#include "cachebisect/bisect/assemble.hpp"
#include "cachebisect/bisect/measure.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::test {

inline Measurements measure_chain(const SimulatedChain& chain, const BisectOptions& options,
                                  double noise = 0.01) {
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = noise}});
  return measure(replayer, options);
}

inline Report report_of(const Measurements& measured) {
  return assemble(measured, analyse(measured));
}

}  // namespace cachebisect::test

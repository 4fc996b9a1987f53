// What a planted chain meets besides noise of the machine.
#pragma once

#include <string>

#include "cachebisect/selftest/planted_chain.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::truth {

/// Each makes a corpus of its own.
enum class Circumstance {
  none,
  contended,  ///< a stage is slowed down by the one before it while that one runs
  quota,      ///< live needs up to twice the CPU time that a quota allows
  arms,       ///< blocks of live vary much more than others
  period,     ///< an optimizer step takes several batches, and the last of them much longer
  content,    ///< what a sample costs depends on its content; samples come in a random order
  carried,    ///< a block is slower at first if more stages ran live in the one before it
  emptied,    ///< blocks begin with an empty queue and a batch per worker, as a DataLoader's do
};
[[nodiscard]] const char* to_string(Circumstance circumstance) noexcept;
/// Throws Error(usage) for any other word.
[[nodiscard]] Circumstance circumstance_of(const std::string& text);

/// Changes the chain and the machine, by the chain's seed, and the truth with them. A chain in
/// which there is nothing to change stays as it is.
void apply(Circumstance circumstance, selftest::PlantedChain& planted, SimulatedOptions& machine);

}  // namespace cachebisect::truth

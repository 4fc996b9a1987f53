// Runs a few samples through the sample stages of a chain, to learn the outputs of callables.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// One level of samples per stage; samples refer to the memory of earlier levels.
class ChainProbe {
 public:
  ChainProbe(std::uint64_t seed, std::span<const ChainStage> chain) : seed_(seed), chain_(chain) {}

  /// Runs stage `position`, the source or the next sample stage, over the samples. Throws what the
  /// stage throws.
  std::span<const Sample> advance(std::size_t position);

 private:
  std::uint64_t seed_;
  std::span<const ChainStage> chain_;
  std::vector<std::vector<Sample>> levels_;
  Arena arena_;
};

}  // namespace cachebisect

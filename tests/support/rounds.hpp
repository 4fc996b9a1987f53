// Blocks and tables of rounds with exact times.
#pragma once

#include <cstdint>

#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect::test {

inline BlockResult block_of(double seconds, std::uint64_t samples) {
  BlockResult block;
  block.seconds = seconds;
  block.samples = samples;
  return block;
}

/// A block of a replay that is evidence.
inline BlockRecord replay_record(int round, int boundary, const BlockResult& block) {
  return {.round = round, .super_round = round, .arm = {.boundary = boundary}, .result = block};
}

}  // namespace cachebisect::test

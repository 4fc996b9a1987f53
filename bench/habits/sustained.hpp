// The truth of a chain that no plan gives: long live runs with the habit and without it, in turns.
#pragma once

#include "bench/habits/chain.hpp"
#include "bench/habits/truth.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::habits {

/// Runs the loop for `seconds` with the habit and for `seconds` without it, in 8 pairs of blocks
/// that are followed by one of the training step alone. Drops of the habit's stages are those of
/// the pairs, divided by their busy seconds; those of the other stages follow from their busy
/// seconds.
HabitTruth measure_truth(const HabitChain& chain, double seconds, const Registry& registry);

/// Throughput after a change over that before it, with its 99% interval.
struct Gain {
  double value = 1;
  Interval interval;
};
/// Runs both pipelines live for `seconds` each, in 8 pairs of blocks.
Gain measure_gain(const std::string& before, const std::string& after, double seconds,
                  const Registry& registry);

/// Seconds per sample of a live loop over about `seconds` seconds, after a run of about as long
/// that is not counted.
double sustained_seconds_per_sample(const std::string& pipeline_json, double seconds,
                                    const Registry& registry);

}  // namespace cachebisect::habits

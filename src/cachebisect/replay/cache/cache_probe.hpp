// A short live run that measures the size of a sample at every boundary and the time to load one.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

struct ItemSizes {
  std::vector<double> bytes;  ///< mean of one sample, by boundary 0..n; 0 at boundary 0
  double seconds_per_sample = 0;
};

/// Loads `indices` (whole batches) once. Throws what the pipeline throws.
ItemSizes probe_items(const Pipeline& pipeline, Device& device, Executor& loader,
                      std::span<const SampleIndex> indices, const std::stop_token& stop);

}  // namespace cachebisect

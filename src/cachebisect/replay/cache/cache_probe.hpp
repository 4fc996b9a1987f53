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

/// `count` samples in the order of the first epoch, from position `first` on, wrapping around at
/// its end; samples repeat only if the data set is smaller than `count`.
std::vector<SampleIndex> first_indices(const Pipeline& pipeline, std::uint64_t count,
                                       std::uint64_t first);

}  // namespace cachebisect

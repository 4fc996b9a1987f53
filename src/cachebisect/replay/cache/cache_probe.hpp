// A short live run that learns what one sample takes at every boundary, in bytes and in time.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

struct ItemSizes {
  std::vector<double> bytes;  ///< of one sample, mean, one a boundary 0..n; 0 at boundary 0
  double seconds_per_sample = 0;
};

/// Loads `indices` (whole batches) once. Throws what the pipeline throws.
ItemSizes probe_items(const Pipeline& pipeline, Device& device, Executor& loader,
                      std::span<const SampleIndex> indices, const std::stop_token& stop);

/// `count` samples as the first epoch has them, from place `first` on and round its end; samples
/// come again only where the data set is smaller than `count`.
std::vector<SampleIndex> first_indices(const Pipeline& pipeline, std::uint64_t count,
                                       std::uint64_t first);

}  // namespace cachebisect

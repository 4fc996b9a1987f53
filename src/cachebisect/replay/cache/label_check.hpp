// Finds labels that a model has no output for, before they reach a device that such a label breaks.
#pragma once

#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Throws Error(data) for the first label outside [0, train.classes) with its sample; -100, which
/// the loss ignores, is allowed. `batches`: what is copied to the device. Nothing is checked unless
/// a model of this tool trains on whole numbers in field `label`.
CACHEBISECT_INTERNAL_API void check_labels(const Pipeline& pipeline,
                                           std::span<const HostBatch> batches);

}  // namespace cachebisect

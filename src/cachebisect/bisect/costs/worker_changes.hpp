// What another count of workers changes in the costs, besides the workers.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Threads that the training step of a pipeline file computes with next to `workers`: those of the
/// chain, unless they are what the workers leave of the cores (TrainSpec::threads). More workers
/// than now may have been more than the cores: then at most so many.
[[nodiscard]] CACHEBISECT_INTERNAL_API int train_threads_with(const ChainDescription& chain,
                                                              int workers);

/// `workers` instead of those of the chain. Where they are processes, batches are sent from the
/// first of them on, and no longer without any.
[[nodiscard]] CACHEBISECT_INTERNAL_API CostChanges changed_workers(const ChainDescription& chain,
                                                                   int workers);

struct ThreadChanges {
  CostChanges likely;  ///< while one thread computes, the others do not begin to wait
  CostChanges most;    ///< they do
};
/// Each worker makes the samples of a batch in so many threads, as far as it has samples.
[[nodiscard]] CACHEBISECT_INTERNAL_API ThreadChanges sample_threads(const ChainDescription& chain,
                                                                    std::int64_t threads);

}  // namespace cachebisect

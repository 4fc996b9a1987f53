// What the DataLoader of a profiled script did: its batches, by worker process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// One batch. Seconds from ScriptLoading::begin, at least 0 and at most ScriptLoading::seconds.
struct FetchedBatch {
  double began = 0;
  double collating = 0;  ///< the dataset has given its samples, collate_fn begins
  double ended = 0;
};

/// While the profiled batches were trained with.
struct ScriptLoading {
  std::int64_t begin = 0;  ///< nanoseconds of the system clock
  double seconds = 0;
  /// By worker; one list, of the training process, without workers. Empty: the loader is unknown.
  std::vector<std::vector<FetchedBatch>> workers;
};

/// Reads what python/cachebisect/_timing/profiling.py has written. Throws Error(data) naming what
/// is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptLoading read_script_loading(const std::string& text);

/// As stages of a chain: the dataset, then collate_fn.
[[nodiscard]] std::vector<StageDescription> loading_stages();
/// Dataset, collate_fn and the rest. `workers`: 0 if the training thread loads, for `load_seconds`.
[[nodiscard]] ActionGroup loading_group(const ScriptLoading& loading, int workers,
                                        double load_seconds);
/// What the workers did, on the clock of `cycle`.
void add_loading(Cycle& cycle, const ScriptLoading& loading);

}  // namespace cachebisect::profile

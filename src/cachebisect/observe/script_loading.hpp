// What the DataLoader of a script did: its batches, by worker process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// One batch. Seconds from ScriptLoading::begin, at least 0 and at most ScriptLoading::seconds.
struct FetchedBatch {
  double began = 0;
  double collating = 0;  ///< the dataset has given its samples, collate_fn begins
  double ended = 0;
};

/// While the observed batches were trained with.
struct ScriptLoading {
  std::int64_t begin = 0;  ///< nanoseconds of the system clock
  double seconds = 0;
  /// By worker; one list, of the training process, without workers. Empty: the loader is unknown.
  std::vector<std::vector<FetchedBatch>> workers;
};

/// Reads what python/cachebisect/_timing/profiling.py has written. Throws Error(data) naming what
/// is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptLoading read_script_loading(const std::string& text);

}  // namespace cachebisect

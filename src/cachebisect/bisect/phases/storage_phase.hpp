// Finds out what reading asks of storage.
#pragma once

#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// True if the verdict names a stage that reads, or one that the fix would begin with.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool names_reading(const Verdict& verdict,
                                                          const ChainDescription& chain);

/// Fills Measurements::storage, which stays empty if the replayer cannot tell. Throws as
/// Replayer::count_storage.
CACHEBISECT_INTERNAL_API void count_storage(Replayer& replayer, const std::stop_token& stop,
                                            Measurements& measured);

}  // namespace cachebisect

// Finds out what reading live samples asks of storage.
#pragma once

#include <optional>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

/// False for a source that reads runs of samples from files at once: some tens of samples read
/// whole runs, most of which other samples use later. One that reads from servers counts itself.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool counts_reads(const Pipeline& pipeline);

/// Makes the next samples of `order` with `loader`, which must not run, as fast as its workers can.
/// A source over servers, or over emulated storage, counts its requests. Of another one the kernel
/// counts what the process reads from files meanwhile, files that samples have to themselves count
/// as opened, and the workers wait in the source stage whenever they do not compute there. Empty if
/// nothing is read, or asked for, or it cannot be told. Throws what the loader throws, and
/// Error(interrupted).
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<StorageCounts> count_reads(
    const Pipeline& pipeline, Executor& loader, LiveOrder& order, const StorageRequest& request,
    const std::stop_token& stop);

}  // namespace cachebisect

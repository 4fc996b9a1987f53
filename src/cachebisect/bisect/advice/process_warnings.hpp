// What worker processes, epochs and the training process itself cost outside the stages.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// `live`: samples per second.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_process_warnings(
    const Measurements& measured, const Estimate& live);

/// Share of the step ends at which the device had nothing left to do although no step waited for
/// data; empty if it was not observed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> device_idle_share(
    const Measurements& measured);
/// True if the host limits the training step, not the device.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_host_bound(const Measurements& measured);
/// True if launching the work takes longer than doing it: a loop of this tool waits for the device
/// only if `sync_every` says so, so nothing else can be the host's part.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_launch_bound(const Measurements& measured);

/// Ranks of the job on one machine: the most, if its machines differ.
[[nodiscard]] CACHEBISECT_INTERNAL_API int ranks_per_machine(const ChainDescription& chain);

/// Threads that all workers of this machine compute with, those of other ranks included; 0 if each
/// has a single one. They share Measurements::usable_cpus() of every rank that is measured.
[[nodiscard]] CACHEBISECT_INTERNAL_API int extra_worker_threads(const ChainDescription& chain);

}  // namespace cachebisect

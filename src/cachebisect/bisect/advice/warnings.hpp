// What may make the report's figures differ from those of the user's own job.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/explanation.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"

namespace cachebisect {

/// CPUs busy with other processes above which the figures of a machine are in doubt.
[[nodiscard]] double load_worth_a_warning(double usable_cpus);
/// "1 CPU", "2.5 CPUs"
[[nodiscard]] std::string cpus_text(double count);

/// What the machine does to the figures; `workers` of the pipeline, 0: none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_machine_warnings(
    const MachineReport& machine, int workers, const JobSettings& settings = {});

[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_warnings(
    const Measurements& measured, const MachineReport& machine, const Waterfall& waterfall,
    const Explanation& explanation);

/// Damaged samples that were skipped, over all blocks.
struct SkippedSamples {
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< at most 8, "path: what"
};
[[nodiscard]] CACHEBISECT_INTERNAL_API SkippedSamples
skipped_samples(const std::vector<BlockRecord>& records);

}  // namespace cachebisect

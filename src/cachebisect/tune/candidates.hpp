// What to try next.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// Samples/s of the job: in one piece, if it was run so; else in short blocks.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate reached_by(const Report& report);

/// What-ifs to ask of a diagnosis, so that each count of workers has a prediction; fewest first.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> questions(
    const ChainDescription& chain, double usable_cpus);

/// The changes that a diagnosis proposes, by the lower end of what they are predicted to gain:
/// other counts of workers, fewest first where they promise the same, and the remedies of the
/// report, those that need a folder to write to among them. Without what the cost model gives too
/// little, and what changes training unless that is allowed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Trial> candidates(const Report& report,
                                                                     bool allow_semantic);

}  // namespace cachebisect::tune

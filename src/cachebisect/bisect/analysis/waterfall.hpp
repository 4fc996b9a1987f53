// Throughput, drops and inline figures of every boundary and stage.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What the verdict's rounds say of the chain, from the ceiling down to live. Payoffs and
/// predictions are not part of it.
struct Waterfall {
  std::vector<BoundaryReport> boundaries;  ///< 0..n
  std::vector<StageReport> stages;         ///< in chain order
  std::vector<SpanReport> spans;           ///< in chain order
  Estimate ceiling;
  Estimate live;
  Estimate loss;  ///< of throughput, the whole input pipeline's
  LiveLoop live_loop;
};

[[nodiscard]] CACHEBISECT_INTERNAL_API Waterfall make_waterfall(const Measurements& measured,
                                                                const Findings& findings);

/// The chain with the bytes of a sample behind each stage that the waterfall has, which knows them
/// from the caches too.
[[nodiscard]] CACHEBISECT_INTERNAL_API ChainDescription with_bytes(ChainDescription chain,
                                                                   const Waterfall& waterfall);

}  // namespace cachebisect

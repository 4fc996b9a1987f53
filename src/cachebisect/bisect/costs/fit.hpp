// The cost model of a chain, fitted to what was measured.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/bisect/costs/round_ratios.hpp"
#include "cachebisect/bisect/costs/sharing.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// Fits cost models to one run: to all of its live blocks, or to one of them. Keeps references to
/// the measurements and the ratios. Not thread safe.
class CACHEBISECT_INTERNAL_API CostFit {
 public:
  CostFit(const Measurements& measured, const RoundRatios& ratios);

  /// The cost model of all live blocks together. Empty if boundary n was not measured or no live
  /// block has counters.
  [[nodiscard]] std::optional<CostModel> fit() const;
  /// The cost model of one live block and what was measured alongside it.
  [[nodiscard]] std::optional<CostModel> fit_to(const BlockRecord& live) const;

 private:
  const Measurements* measured_;
  const RoundRatios* ratios_;
  std::vector<double> serve_seconds_;
  std::vector<StageSharing> sharing_;
};

}  // namespace cachebisect

// Gates: conditions on the change of a figure that make a comparison fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// "live<-5%", "stages.crop.seconds>+10%". The threshold is a relative change; of shares, such as
/// "loss" or "stages.crop.drop", it is a difference in percentage points.
struct Gate {
  std::string text;
  std::string figure;  ///< ComparedFigure::id
  bool below = true;
  double threshold = 0;  ///< 0.05 for 5%
};

/// Throws Error(usage) with an example if `text` is not a gate.
[[nodiscard]] CACHEBISECT_INTERNAL_API Gate parse_gate(const std::string& text);

/// A gate fires if the whole interval of the change lies beyond its threshold, passes if the whole
/// interval lies on the other side, and is undecided otherwise; also where there is no interval.
/// With `noise`, a gate that would fire is undecided. Throws Error(usage) naming the known figures
/// if the figure is none of them.
[[nodiscard]] CACHEBISECT_INTERNAL_API GateResult
judge_gate(const Gate& gate, const std::vector<ComparedFigure>& figures,
           const std::vector<std::string>& noise);

}  // namespace cachebisect

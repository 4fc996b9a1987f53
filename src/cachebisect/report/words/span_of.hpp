// The span that holds a stage.
#pragma once

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Null if the stage was measured alone, or not at all.
[[nodiscard]] inline const SpanReport* span_of(const Report& report, const StageReport& stage) {
  for (const SpanReport& span : report.spans) {
    if (span.first <= stage.index && stage.index <= span.last) return &span;
  }
  return nullptr;
}

}  // namespace cachebisect

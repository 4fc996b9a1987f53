#include "cachebisect/compare/comparison.hpp"

#include <algorithm>

namespace cachebisect {

const char* to_string(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::unknown:
      return "unknown";
    case ChangeKind::none:
      return "none";
    case ChangeKind::higher:
      return "higher";
    case ChangeKind::lower:
      return "lower";
  }
  return "?";
}

const char* to_string(GateOutcome outcome) noexcept {
  switch (outcome) {
    case GateOutcome::passed:
      return "passed";
    case GateOutcome::fired:
      return "fired";
    case GateOutcome::undecided:
      return "undecided";
  }
  return "?";
}

ChangeKind ComparedFigure::kind() const noexcept {
  if (!change.value || !change.interval) return ChangeKind::unknown;
  if (change.interval->low > 0) return ChangeKind::higher;
  if (change.interval->high < 0) return ChangeKind::lower;
  return ChangeKind::none;
}

bool Comparison::fails() const noexcept {
  return std::ranges::any_of(
      gates, [](const GateResult& gate) { return gate.outcome == GateOutcome::fired; });
}

}  // namespace cachebisect

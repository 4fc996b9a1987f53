// A part of the chain between two boundaries.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// A stage, or a span of several whose inner boundaries were not visited: from boundary `from` to
/// `to`.
struct CACHEBISECT_INTERNAL_API Part {
  int from = 0;
  int to = 0;
  [[nodiscard]] bool single() const noexcept { return to - from == 1; }
  [[nodiscard]] bool holds(const Part& other) const noexcept {
    return from <= other.from && other.to <= to;
  }
  friend bool operator==(const Part&, const Part&) = default;
  // The check takes the comparison with zero that the compiler writes for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// "stages 4-7 together"; empty for a single stage.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string span_name(const Part& part);
/// The stage's name, or that of the span.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string part_name(const ChainDescription& chain,
                                                             const Part& part);

}  // namespace cachebisect

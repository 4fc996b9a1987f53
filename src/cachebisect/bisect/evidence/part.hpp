// A part of the chain between two boundaries.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The stages between boundaries `from` and `to`: a single stage, or a span of several whose inner
/// boundaries were not visited.
struct CACHEBISECT_INTERNAL_API Part {
  int from = 0;
  int to = 0;
  [[nodiscard]] bool single() const noexcept { return to - from == 1; }
  [[nodiscard]] bool holds(const Part& other) const noexcept {
    return from <= other.from && other.to <= to;
  }
  friend bool operator==(const Part&, const Part&) = default;
  // clang-tidy mistakes the zero in the compiler-generated comparison for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// "stages 4-7 together"; empty for a single stage.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string span_name(const Part& part);
/// The name of the stage, or span_name().
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string part_name(const ChainDescription& chain,
                                                             const Part& part);

}  // namespace cachebisect

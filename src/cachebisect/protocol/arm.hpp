// What a block measures.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class ArmKind { replay, bypass, shadow, live, null };
CACHEBISECT_API const char* to_string(ArmKind kind) noexcept;

/// replay: boundary k's output comes from its cache, what follows runs live; 0 is the live
/// pipeline. bypass: everything runs live, but stage s's own work is skipped and its cached output
/// used. shadow: the step reads cached device batches while everything else runs as live into
/// buffers that are dropped, paced: at each step one finished slot is released if there is one,
/// without waiting. live: replay at 0 with overrides. null: the same as another arm, run twice.
struct Arm {
  ArmKind kind = ArmKind::replay;
  int boundary = 0;                                ///< replay, null
  int stage = 0;                                   ///< bypass (1-based)
  std::map<std::string, std::string> overrides{};  ///< live: what-if, path -> JSON value
  bool observed = true;             ///< inline probes run; false: to measure what they cost
  std::uint64_t cache_samples = 0;  ///< replay: serve only the first so many samples; 0: all

  /// True for the pipeline as it is: nothing replaced, nothing changed, probes running.
  [[nodiscard]] bool is_live() const noexcept {
    return kind == ArmKind::replay && boundary == 0 && observed && cache_samples == 0;
  }
  friend bool operator==(const Arm&, const Arm&) = default;
  // The checks take the comparison with zero that the compiler writes for a null pointer, a bool.
  // NOLINTNEXTLINE(modernize-use-nullptr, readability-implicit-bool-conversion)
  friend auto operator<=>(const Arm&, const Arm&) = default;
};

}  // namespace cachebisect

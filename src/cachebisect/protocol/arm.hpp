// What a block measures.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/rank_range.hpp"

namespace cachebisect {

enum class ArmKind { replay, bypass, shadow, live, null, unseen };
CACHEBISECT_API const char* to_string(ArmKind kind) noexcept;

/// replay: boundary k's output comes from its cache, the stages after it run live; at 0 the whole
/// pipeline is live. bypass: all stages run live except stage s, whose cached output is used
/// instead. shadow: the step reads cached device batches, while everything else runs as in live and
/// its output is dropped; each step releases one finished slot if there is one, without waiting.
/// live: replay at 0 with overrides. null: a repetition of another arm. unseen: as replay, from
/// samples that the stages after the boundary have never had; it shows what those stages take, and
/// begins with an empty ring.
struct Arm {
  ArmKind kind = ArmKind::replay;
  int boundary = 0;                                ///< replay, null, unseen
  int stage = 0;                                   ///< bypass (1-based)
  std::map<std::string, std::string> overrides{};  ///< live: what-if, path -> JSON value
  bool observed = true;             ///< inline probes run; false: to measure their cost
  std::uint64_t cache_samples = 0;  ///< replay: use only the first this many; 0: all
  RankRange ranks{};  ///< replay: on these ranks of a distributed job alone, the others are live

  /// True for the unchanged pipeline: nothing replaced, nothing overridden, probes running. At
  /// boundary 0 `ranks` changes nothing.
  [[nodiscard]] bool is_live() const noexcept {
    return kind == ArmKind::replay && boundary == 0 && observed && cache_samples == 0;
  }
  /// True if `boundary` says what is served.
  [[nodiscard]] bool has_boundary() const noexcept {
    return kind == ArmKind::replay || kind == ArmKind::null || kind == ArmKind::unseen;
  }
  /// The boundary that all ranks are served from: 0 if some are live.
  [[nodiscard]] int shared_boundary() const noexcept { return ranks.is_all() ? boundary : 0; }
  friend bool operator==(const Arm&, const Arm&) = default;
  // clang-tidy misreads the compiler's own comparison with zero.
  // NOLINTNEXTLINE(modernize-use-nullptr, readability-implicit-bool-conversion)
  friend auto operator<=>(const Arm&, const Arm&) = default;
};

}  // namespace cachebisect

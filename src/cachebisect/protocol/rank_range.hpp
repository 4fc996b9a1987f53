// Ranks of a distributed job that are free at the same time.
#pragma once

namespace cachebisect {

/// Consecutive ranks.
struct RankRange {
  int first = 0;
  int count = 0;  ///< 0: every rank of the job

  [[nodiscard]] bool is_all() const noexcept { return count == 0; }
  [[nodiscard]] bool is_single() const noexcept { return count == 1; }
  [[nodiscard]] int end() const noexcept { return first + count; }
  [[nodiscard]] bool holds(int rank) const noexcept {
    return is_all() || (first <= rank && rank < end());
  }
  friend bool operator==(const RankRange&, const RankRange&) = default;
  // clang-tidy misreads the compiler's own comparison with zero.
  // NOLINTNEXTLINE(modernize-use-nullptr, readability-implicit-bool-conversion)
  friend auto operator<=>(const RankRange&, const RankRange&) = default;
};

}  // namespace cachebisect

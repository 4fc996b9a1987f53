// How the cost of a sample varies: by its content, or because a few samples are slow. Shared by the
// stages and by the plan of what a chain of them costs.
#pragma once

#include <cstdint>
#include <vector>

namespace cachebisect::habits {

/// Lognormal factors with mean 1, fixed by the index of a sample: what its content costs. Any
/// kPeriod consecutive indices from a multiple of kPeriod have a mean of exactly 1. Thread safe.
class ContentFactors {
 public:
  static constexpr std::size_t kPeriod = 4096;

  /// `variant` chooses which samples are costly.
  ContentFactors(double cv, std::uint64_t variant);
  [[nodiscard]] double of(std::uint64_t index) const noexcept { return factors_[index % kPeriod]; }

 private:
  std::vector<double> factors_;
};

/// True for a share of all indices, fixed by the index: which samples are slow or damaged.
[[nodiscard]] bool is_chosen(std::uint64_t index, double share, std::uint64_t variant) noexcept;

}  // namespace cachebisect::habits

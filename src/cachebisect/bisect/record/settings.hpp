// The options of a run that its report states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cachebisect {

struct BisectSettings {
  double confidence = 0.99;
  double min_drop = 0.05;
  double budget_seconds = 60;
  std::string io = "as-is";
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> order_nonce{};  ///< ChainDescription::order_nonce
};

/// What the user asked for in addition to the verdict.
struct Questions {
  std::vector<std::string> what_ifs;
  bool verify = false;
  std::optional<double> expect_samples_per_second;
  std::optional<double> cost_per_hour{};  ///< of the job, in any currency
};

/// Share of the budget for the verdict and what explains it: the rest is kept for runs that were
/// asked for.
[[nodiscard]] constexpr double verdict_share(const Questions& questions) noexcept {
  constexpr double kShareWithRuns = 0.7;
  return questions.verify ? kShareWithRuns : 1.0;
}

}  // namespace cachebisect

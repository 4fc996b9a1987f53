// What a caller of bisect() chooses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/cache_facts.hpp"

namespace cachebisect {

struct Report;

/// What is known so far, given to the progress callback after each block.
struct Progress {
  std::string
      phase;  ///< "caches", "pilot", "measure", "sustain", "explain", "check_cache", "verify"
  int round = 0;
  Arm arm;
  std::string best;            ///< "crop: 41% (38 to 44%)"; empty when nothing is known
  double elapsed_seconds = 0;  ///< of the budget
  double budget_seconds = 0;
  std::optional<double> expected_seconds;  ///< to certify a 20% drop here, by the pilot
};

struct BisectOptions {
  double budget_seconds = 60;  ///< of measuring; filling caches is extra
  /// The budget may grow to what the pilot expects a verdict to take, 10 minutes at most.
  bool budget_grows = false;
  double confidence = 0.99;
  double min_drop = 0.05;
  /// How long live runs in one piece before a verdict is given; 0: not at all. Empty: 3 s; 0.5
  /// to 1 s where a drop leaves the ring empty; for flat four times as long as it took, 12 s at
  /// most. Does not count as measuring.
  std::optional<double> sustain_seconds{};
  std::string io = "as-is";
  std::uint64_t seed = 1;
  /// Chooses the place in the epoch where reading begins; empty: another one in each run. For calls
  /// that take a pipeline; a replayer has its own.
  std::optional<std::uint64_t> order_nonce{};
  CacheBudget cache{};
  std::vector<int> boundaries{};  ///< empty: chosen by the budget
  std::optional<double> expect_samples_per_second{};
  std::optional<double> cost_per_hour{};  ///< of the whole job, in any currency
  /// After the verdict, use the rest of the budget to measure payoffs, starvation, contention, the
  /// next limit, the cost of the probes, and whether the caches are large enough.
  bool explain = true;
  std::vector<std::string> what_ifs{};  ///< "workers=4", "crop=free", "decode/2", "batch_size=256"
  bool verify = false;  ///< also run those what-ifs that can be run, alongside the present pipeline
  std::function<void(const Progress&)> progress{};
  std::function<void(const Report&)> partial{};  ///< gets the report so far after complete rounds
  std::stop_token stop{};  ///< on a stop, the report is partial and `interrupted` is set
};

}  // namespace cachebisect

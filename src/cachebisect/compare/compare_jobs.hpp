// Measures two jobs in turns, and compares them.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// A job and where it came from.
struct JobSource {
  Replayer* replayer = nullptr;
  std::string name;  ///< its file
};

struct CompareJobsOptions {
  double budget_seconds = 120;  ///< of measuring, at most
  double confidence = 0.99;
  std::uint64_t seed = 1;
  bool force = false;                ///< compare what is not comparable
  std::vector<std::string> gates{};  ///< "live<-5%": of live alone
  std::function<void(const Progress&)> progress{};
  std::stop_token stop{};
};

/// The change of live throughput, from pairs of neighbouring blocks. Ends when every gate is
/// decided; without gates, when the interval is at most 1%, or a fifth of
/// the change, wide; or at the budget. Both replayers
/// must have the same clock. Throws Error(usage) if the two are not comparable and that was not
/// forced, and for a gate that is not one of live; what a replayer throws; and Error(interrupted)
/// on a stop before the first pair.
[[nodiscard]] CACHEBISECT_API Comparison compare(const JobSource& a, const JobSource& b,
                                                 const CompareJobsOptions& options = {});

}  // namespace cachebisect

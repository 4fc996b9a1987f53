// Counts the damaged samples that were replaced, and refuses too many.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Thread safe. The share is that of all samples loaded since construction.
class CACHEBISECT_INTERNAL_API SkipCounter {
 public:
  static constexpr unsigned kMaxAttempts = 8;
  static constexpr double kMaxShare = 0.05;
  /// Standard errors by which the share must be exceeded: not by chance.
  static constexpr double kErrors = 4;
  /// The share is taken of at least this many samples, so that two early ones do not exceed it.
  static constexpr std::uint64_t kMinSamples = 200;

  void add_loaded(std::uint64_t samples) noexcept {
    loaded_.fetch_add(samples, std::memory_order_relaxed);
  }
  /// Throws Error(data) if this is one too many.
  void add_skipped(const std::string& what);
  /// Resets the counts of a run; the share continues.
  void begin_run();
  void report(std::uint64_t& skipped, std::vector<std::string>& first) const;

 private:
  std::atomic<std::uint64_t> loaded_{0};
  mutable std::mutex mutex_;
  std::uint64_t all_skipped_ = 0;
  std::uint64_t run_skipped_ = 0;
  std::vector<std::string> first_;
};

}  // namespace cachebisect

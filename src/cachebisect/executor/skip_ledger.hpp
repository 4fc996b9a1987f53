// Damaged samples that were replaced: counted by all workers, refused when they are too many.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace cachebisect {

/// Thread safe. The share is judged over everything loaded since construction.
class SkipLedger {
 public:
  static constexpr unsigned kMaxAttempts = 8;
  static constexpr double kMaxShare = 0.05;
  /// A share is taken of this many samples at least, so that two early ones are no verdict.
  static constexpr std::uint64_t kLeastSamples = 200;

  void add_loaded(std::uint64_t samples) noexcept {
    loaded_.fetch_add(samples, std::memory_order_relaxed);
  }
  /// Throws Error(data) when this one makes too many.
  void add_skipped(const std::string& what);
  /// Counts of a run begin again; the share goes on.
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

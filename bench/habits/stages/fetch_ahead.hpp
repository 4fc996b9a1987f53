// A storage client that fetches samples ahead of the reads, in a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace cachebisect::habits {

/// Fetches at a fixed rate until `ahead` samples are waiting to be taken. Thread safe.
class FetchAhead {
 public:
  FetchAhead(double seconds_per_sample, std::uint64_t ahead);
  ~FetchAhead();
  FetchAhead(const FetchAhead&) = delete;
  FetchAhead& operator=(const FetchAhead&) = delete;

  /// Takes the next sample; waits until it has been fetched.
  void take();
  /// Samples fetched so far.
  [[nodiscard]] std::uint64_t fetched() const;

 private:
  void run(const std::stop_token& stop);

  const double seconds_;
  const std::uint64_t ahead_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable arrival_;
  std::uint64_t fetched_ = 0;
  std::uint64_t taken_ = 0;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace cachebisect::habits

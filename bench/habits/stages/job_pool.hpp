// A thread pool inside a stage.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace cachebisect::habits {

/// Runs parts of the work of several callers on its own threads. Thread safe.
class JobPool {
 public:
  explicit JobPool(int threads);
  ~JobPool() = default;
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  /// Runs `part` `parts` times on the pool's threads; returns when all of them are done. `part`
  /// must not throw.
  void run(int parts, const std::function<void()>& part);

 private:
  struct Part {
    const std::function<void()>* work;
    std::latch* done;
  };

  void live(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any arrival_;
  std::deque<Part> parts_;
  std::vector<std::jthread> threads_;  // last: they use the members above
};

}  // namespace cachebisect::habits

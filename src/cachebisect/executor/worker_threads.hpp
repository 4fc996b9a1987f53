// The worker threads of an executor: made once, parked between runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace cachebisect {

/// start() and wait() are called by one thread, in turns. Threads run with denormal numbers flushed
/// to zero.
class WorkerThreads {
 public:
  /// `work(i)` is called in thread i at each start(). It must not throw.
  WorkerThreads(int count, std::function<void(std::size_t)> work);
  /// Joins all threads; call wait() first.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// The first call makes the threads. Throws Error(usage) if the system refuses one.
  void start();
  /// Returns when every thread is parked.
  void wait() noexcept;

 private:
  void make_threads();
  void live(std::size_t number);

  std::size_t count_;
  std::function<void(std::size_t)> work_;
  alignas(64) std::atomic<std::uint32_t> run_{0};  // counts starts; parked threads wait on it
  std::atomic<std::uint32_t> active_{0};
  std::atomic<bool> quitting_{false};
  std::vector<std::thread> threads_;
};

}  // namespace cachebisect

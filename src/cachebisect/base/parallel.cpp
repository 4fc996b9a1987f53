#include "cachebisect/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"

namespace cachebisect {
namespace {

std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(probe_machine().usable_cpus)));
}

/// Keeps the error of the smallest index: all indices before one that failed had begun, and run to
/// their end, so that which error is told does not depend on the threads. Thread safe.
class FirstError {
 public:
  void keep(std::uint64_t index, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ && index >= index_) return;
    index_ = index;
    error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void parallel_for(std::uint64_t count, std::uint64_t grain, const std::stop_token& stop,
                  const std::function<void(std::uint64_t)>& work, std::uint64_t threads) {
  std::atomic<std::uint64_t> next{0};
  FirstError error;
  const auto run = [&] {
    std::uint64_t at = 0;
    try {
      for (std::uint64_t begin = next.fetch_add(grain); begin < count;
           begin = next.fetch_add(grain)) {
        at = begin;
        if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
        for (; at < std::min(count, begin + grain); ++at) work(at);
      }
    } catch (...) {
      next = count;
      error.keep(at, std::current_exception());
    }
  };
  const std::uint64_t threads_wanted =
      std::min(threads > 0 ? threads : thread_count(), (count + grain - 1) / grain);
  {
    std::vector<std::jthread> helpers;
    for (std::uint64_t i = 1; i < threads_wanted; ++i) helpers.emplace_back(run);
    run();
  }
  error.rethrow();
}

}  // namespace cachebisect

#include "cachebisect/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"

namespace cachebisect {
namespace {

std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(probe_machine().usable_cpus)));
}

}  // namespace

void parallel_for(std::uint64_t count, std::uint64_t grain, const std::stop_token& stop,
                  const std::function<void(std::uint64_t)>& work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto run = [&] {
    try {
      for (std::uint64_t begin = next.fetch_add(grain); begin < count;
           begin = next.fetch_add(grain)) {
        if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
        for (std::uint64_t i = begin; i < std::min(count, begin + grain); ++i) work(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  };
  const std::uint64_t threads_wanted = std::min(thread_count(), (count + grain - 1) / grain);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 1; i < threads_wanted; ++i) threads.emplace_back(run);
    run();
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace cachebisect

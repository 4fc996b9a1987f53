#include "stages/datasets/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"

namespace cachebisect::stages {
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

void append_samples(NewFile& file, std::uint64_t count, std::size_t bytes_each, std::uint64_t grain,
                    const std::stop_token& stop,
                    const std::function<void(std::uint64_t, std::byte*)>& draw) {
  constexpr std::size_t kBytesAtOnce = std::size_t{16} << 20;
  const std::uint64_t piece = std::max<std::uint64_t>(1, kBytesAtOnce / bytes_each);
  std::vector<std::byte> content(std::min(piece, count) * bytes_each);
  for (std::uint64_t first = 0; first < count; first += piece) {
    const std::uint64_t drawn = std::min(piece, count - first);
    parallel_for(drawn, grain, stop,
                 [&](std::uint64_t i) { draw(first + i, content.data() + i * bytes_each); });
    file.append(std::span(content).first(drawn * bytes_each));
  }
}

}  // namespace cachebisect::stages

#include "cachebisect/executor/worker_threads.hpp"

#include <string>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect {

WorkerThreads::WorkerThreads(int count, std::function<void(std::size_t)> work)
    : count_(static_cast<std::size_t>(count)), work_(std::move(work)) {}

WorkerThreads::~WorkerThreads() {
  quitting_ = true;
  run_.fetch_add(1);
  run_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::start() {
  make_threads();
  active_ = static_cast<std::uint32_t>(count_);
  run_.fetch_add(1);
  run_.notify_all();
}

void WorkerThreads::wait() noexcept {
  for (std::uint32_t left = active_.load(); left != 0; left = active_.load()) active_.wait(left);
}

void WorkerThreads::make_threads() {
  threads_.reserve(count_);
  while (threads_.size() < count_) {
    const std::size_t number = threads_.size();
    try {
      threads_.emplace_back([this, number] { live(number); });
    } catch (const std::system_error& error) {
      throw Error(ErrorKind::usage, "worker " + std::to_string(number + 1) + " of " +
                                        std::to_string(count_) + " could not be started (" +
                                        error.what() + "); use fewer workers");
    }
    const std::string name = "worker-" + std::to_string(number);
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

void WorkerThreads::live(std::size_t number) {
  const FlushDenormals flush;
  std::uint32_t seen = 0;
  for (;;) {
    run_.wait(seen);
    seen = run_.load();
    if (quitting_) return;
    work_(number);
    if (active_.fetch_sub(1) == 1) active_.notify_all();
  }
}

}  // namespace cachebisect

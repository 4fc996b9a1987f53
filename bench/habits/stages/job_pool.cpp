#include "bench/habits/stages/job_pool.hpp"

namespace cachebisect::habits {

JobPool::JobPool(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { live(stop); });
  }
}

void JobPool::run(int parts, const std::function<void()>& part) {
  std::latch done(parts);
  {
    const std::scoped_lock lock(mutex_);
    for (int i = 0; i < parts; ++i) parts_.push_back({&part, &done});
  }
  arrival_.notify_all();
  done.wait();
}

void JobPool::live(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (arrival_.wait(lock, stop, [this] { return !parts_.empty(); })) {
    const Part part = parts_.front();
    parts_.pop_front();
    lock.unlock();
    (*part.work)();
    part.done->count_down();
    lock.lock();
  }
}

}  // namespace cachebisect::habits

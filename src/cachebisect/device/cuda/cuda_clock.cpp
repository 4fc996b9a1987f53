#include "cachebisect/device/cuda/cuda_clock.hpp"

#include <cmath>
#include <utility>

#include "cachebisect/device/cuda/cuda_error.hpp"

namespace cachebisect::cuda {
namespace {

double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

CudaClock::CudaClock(int ordinal, const std::shared_ptr<StreamList>& streams)
    : ordinal_(ordinal), stream_(ordinal, streams), base_(mark()) {}

std::unique_ptr<CudaEvent> CudaClock::mark() {
  auto event = std::make_unique<CudaEvent>(ordinal_);
  check(cudaEventRecord(event->get(), stream_.get()), "cudaEventRecord");
  check(cudaEventSynchronize(event->get()), "cudaEventSynchronize");
  return event;
}

double CudaClock::seconds(cudaEvent_t event) {
  const std::scoped_lock lock(mutex_);
  const double since_base = seconds_between(base_->get(), event);
  if (std::abs(since_base) <= kOldSeconds) return base_seconds_ + since_base;
  std::unique_ptr<CudaEvent> next = mark();
  base_seconds_ += seconds_between(base_->get(), next->get());
  base_ = std::move(next);
  return base_seconds_ + seconds_between(base_->get(), event);
}

}  // namespace cachebisect::cuda

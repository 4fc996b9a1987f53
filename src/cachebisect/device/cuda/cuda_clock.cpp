#include "cachebisect/device/cuda/cuda_clock.hpp"

#include <cmath>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"

namespace cachebisect::cuda {
namespace {

double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

CudaClock::CudaClock() {
  base_ = mark();  // the first one pays for lazy initialisation
  const double before = monotonic_seconds();
  base_ = mark();
  base_seconds_ = 0.5 * (before + monotonic_seconds());
}

std::unique_ptr<CudaEvent> CudaClock::mark() {
  auto event = std::make_unique<CudaEvent>();
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

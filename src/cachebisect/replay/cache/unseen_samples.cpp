#include "cachebisect/replay/cache/unseen_samples.hpp"

#include <algorithm>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/executor/load_guard.hpp"

namespace cachebisect {
namespace {

/// Share of the free memory that unseen samples may take, next to the caches and rings.
constexpr double kShareOfMemory = 0.1;

}  // namespace

std::uint64_t UnseenSamples::batches_left(double item_bytes) const {
  const auto batch = static_cast<std::uint64_t>(pipeline_->batch_size());
  const double bytes = std::max(item_bytes, 1.0) * static_cast<double>(batch);
  const double fitting = kShareOfMemory * available_memory().spare_bytes / bytes;
  return std::min(static_cast<std::uint64_t>(fitting), order_.unread() / batch);
}

HostCacheView UnseenSamples::load(Executor& loader, std::size_t boundary, std::uint64_t batches,
                                  const std::stop_token& stop) {
  const std::vector<SampleIndex> indices =
      order_.take(batches * static_cast<std::uint64_t>(pipeline_->batch_size()));
  arena_.reset();
  samples_.resize(indices.size());
  LoadRequest request;
  request.indices = indices;
  request.batches = batches;
  request.last_stage = boundary;
  request.observe = false;
  request.on_sample = [&](std::size_t stage, std::uint64_t position, const Sample& sample) {
    if (stage == boundary) store_sample(sample, samples_[position], arena_);
  };
  const LoadGuard running(loader, request);
  for (std::uint64_t i = 0; i < batches; ++i) loader.release(loader.next(stop), nullptr);
  return {samples_, {}};
}

}  // namespace cachebisect

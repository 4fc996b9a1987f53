#include "cachebisect/replay/reading/live_order.hpp"

#include <algorithm>

#include "cachebisect/executor/load_program.hpp"
#include "cachebisect/pipeline/sampler.hpp"

namespace cachebisect {

LiveOrder::LiveOrder(const Pipeline& pipeline)
    : pipeline_(&pipeline),
      epoch_length_(std::max<std::uint64_t>(epoch_length(pipeline), 1)),
      next_(std::make_shared<std::uint64_t>(0)) {}

LiveOrder LiveOrder::shared_with(const Pipeline& pipeline) const {
  LiveOrder other(pipeline);
  other.next_ = next_;
  return other;
}

std::uint64_t LiveOrder::reserve(std::uint64_t batches) noexcept {
  const auto batch = static_cast<std::uint64_t>(pipeline_->batch_size());
  const std::uint64_t first = (*next_ + batch - 1) / batch * batch;
  *next_ = first + batches * batch;
  return first;
}

std::vector<SampleIndex> LiveOrder::indices(std::uint64_t position, std::uint64_t batches) const {
  return some_indices(position, batches,
                      batches * static_cast<std::uint64_t>(pipeline_->batch_size()));
}

std::vector<SampleIndex> LiveOrder::some_indices(std::uint64_t position, std::uint64_t batches,
                                                 std::uint64_t count) const {
  const Sampler sampler(pipeline_->samples(), pipeline_->spec().seed, pipeline_->spec().shuffle);
  const std::uint64_t all = batches * static_cast<std::uint64_t>(pipeline_->batch_size());
  std::vector<SampleIndex> some;
  some.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t p = position + i * all / count;
    some.push_back(sampler.index(p / epoch_length_, p % epoch_length_));
  }
  return some;
}

}  // namespace cachebisect

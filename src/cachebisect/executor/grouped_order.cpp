#include "cachebisect/executor/grouped_order.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/random.hpp"
#include "cachebisect/executor/load_program.hpp"

namespace cachebisect {
namespace {

struct SizedSample {
  std::uint64_t bytes = 0;
  SampleIndex index;
};

/// Fisher and Yates, of whole batches.
void shuffle_batches(std::vector<SizedSample>& samples, std::uint64_t batch_size,
                     std::uint64_t batches, RandomStream random) {
  const auto begin_of = [&](std::uint64_t batch) {
    return samples.begin() + static_cast<std::ptrdiff_t>(batch * batch_size);
  };
  for (std::uint64_t last = batches; last > 1; --last) {
    const std::uint64_t other = random.below(last);
    if (other == last - 1) continue;
    std::swap_ranges(begin_of(last - 1),
                     begin_of(last - 1) + static_cast<std::ptrdiff_t>(batch_size), begin_of(other));
  }
}

}  // namespace

GroupedOrder::GroupedOrder(const Pipeline& pipeline)
    : source_(std::static_pointer_cast<const SourceStage>(pipeline.stages().front().stage)),
      sampler_(sampler_of(pipeline)),
      seed_(pipeline.spec().seed),
      batch_size_(static_cast<std::uint64_t>(pipeline.batch_size())),
      window_(batch_size_ * static_cast<std::uint64_t>(pipeline.spec().group_by_size)),
      epoch_length_(epoch_length(pipeline)) {}

std::shared_ptr<const GroupedOrder> grouped_order_of(const Pipeline& pipeline) {
  if (pipeline.spec().group_by_size == 0) return nullptr;
  return std::make_shared<const GroupedOrder>(pipeline);
}

std::shared_ptr<const OrderWindow> GroupedOrder::window(std::uint64_t epoch, std::uint64_t shift,
                                                        std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  for (const auto& known : recent_) {
    if (known && known->holds(epoch, shift, offset)) return known;
  }
  auto fresh = std::make_shared<const OrderWindow>(made(epoch, shift, offset / window_ * window_));
  recent_[oldest_] = fresh;
  oldest_ = (oldest_ + 1) % recent_.size();
  return fresh;
}

OrderWindow GroupedOrder::made(std::uint64_t epoch, std::uint64_t shift,
                               std::uint64_t first) const {
  const std::uint64_t count = std::min(window_, epoch_length_ - first);
  std::vector<SizedSample> samples;
  samples.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const SampleIndex index = sampler_.index(epoch, (first + i + shift) % sampler_.size());
    samples.push_back({source_->stored_bytes(index), index});
  }
  const std::uint64_t batches = count / batch_size_;
  const auto whole = samples.begin() + static_cast<std::ptrdiff_t>(batches * batch_size_);
  std::stable_sort(samples.begin(), whole,
                   [](const SizedSample& a, const SizedSample& b) { return a.bytes < b.bytes; });
  shuffle_batches(
      samples, batch_size_, batches,
      RandomStream(
          {.seed = seed_, .epoch = epoch, .index = first, .stage = hash_name("group_by_size")}));
  OrderWindow out{epoch, shift, first, {}};
  out.samples.reserve(count);
  for (const SizedSample& sample : samples) out.samples.push_back(sample.index);
  return out;
}

}  // namespace cachebisect

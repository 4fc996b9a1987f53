// The order of an epoch whose batches are of samples of similar size, so that little is padded.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/sampler.hpp"

namespace cachebisect {

/// Consecutive samples of an epoch, in the order in which they are read.
struct OrderWindow {
  std::uint64_t epoch = 0;
  std::uint64_t shift = 0;  ///< place in the sampler's order where the epoch begins
  std::uint64_t first = 0;  ///< offset of the first sample in the epoch
  std::vector<SampleIndex> samples;

  [[nodiscard]] bool holds(std::uint64_t in_epoch, std::uint64_t with_shift,
                           std::uint64_t offset) const noexcept {
    return epoch == in_epoch && shift == with_shift && offset >= first &&
           offset - first < samples.size();
  }
};

/// Takes the samples of `group_by_size` batches from the sampler, sorts them by their bytes in
/// storage, and shuffles the batches that they make: a permutation of the epoch, whose batches have
/// another order in each epoch. Samples that make no whole batch stay at the end. Thread safe; the
/// sizes of a window are looked up once, by the first thread that asks, while others wait.
class CACHEBISECT_INTERNAL_API GroupedOrder {
 public:
  /// The pipeline groups by size.
  explicit GroupedOrder(const Pipeline& pipeline);
  /// The window of this offset, which is less than the length of an epoch.
  [[nodiscard]] std::shared_ptr<const OrderWindow> window(std::uint64_t epoch, std::uint64_t shift,
                                                          std::uint64_t offset) const;

 private:
  [[nodiscard]] OrderWindow made(std::uint64_t epoch, std::uint64_t shift,
                                 std::uint64_t first) const;

  std::shared_ptr<const SourceStage> source_;
  Sampler sampler_;
  std::uint64_t seed_;
  std::uint64_t batch_size_;
  std::uint64_t window_;  // samples
  std::uint64_t epoch_length_;
  mutable std::mutex mutex_;
  mutable std::array<std::shared_ptr<const OrderWindow>, 4> recent_;
  mutable std::size_t oldest_ = 0;
};

/// The order of a pipeline that groups by size; null for others.
[[nodiscard]] std::shared_ptr<const GroupedOrder> grouped_order_of(const Pipeline& pipeline);

/// One thread's view of an order: it keeps the window that it reads from.
class OrderReader {
 public:
  [[nodiscard]] SampleIndex index(const GroupedOrder& order, std::uint64_t epoch,
                                  std::uint64_t shift, std::uint64_t offset) {
    if (!window_ || !window_->holds(epoch, shift, offset))
      window_ = order.window(epoch, shift, offset);
    return window_->samples[offset - window_->first];
  }

 private:
  std::shared_ptr<const OrderWindow> window_;
};

}  // namespace cachebisect

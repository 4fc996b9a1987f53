// The slots of a simulated ring: which samples are claimed, which batches are complete, and when a
// slot may be filled again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cachebisect/simulate/ring_state.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect {

/// Batches and samples count from 0 over the run; batch b lies in the slot of batch b - slots.
/// Defined in the header because events are shorter than calls. Not thread safe.
class RingSlots {
 public:
  /// Samples [begin, end), all of one batch.
  struct Claim {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// For a chain with workers and a run of `steps` steps.
  RingSlots(const SimulatedChain& chain, int steps)
      : batch_size_(chain.batch_size),
        slots_(static_cast<std::size_t>(chain.workers + chain.ring_prefetch + 1)),
        grain_(std::clamp<std::int64_t>(batch_size_ / (2 * chain.workers), 1, 32)) {
    const auto workers = static_cast<std::size_t>(chain.workers);
    if (chain.loader == LoaderKind::batch) {
      own_next_.resize(workers);
      std::iota(own_next_.begin(), own_next_.end(), 0);
    }
    batches_.assign(static_cast<std::size_t>(steps) + slots_ + 2 * workers + 2,
                    {.remaining = batch_size_});
  }

  [[nodiscard]] std::size_t batch_of(std::int64_t sample) const noexcept {
    return static_cast<std::size_t>(sample / batch_size_);
  }

  /// The next samples that a worker loads; their slot may not be free yet.
  Claim claim(std::size_t worker) {
    if (!own_next_.empty()) return claim_batch(own_next_[worker]);
    const auto end_of_batch = static_cast<std::int64_t>(batch_of(next_) + 1) * batch_size_;
    const Claim claim{next_, std::min(next_ + grain_, end_of_batch)};
    next_ = claim.end;
    return claim;
  }
  /// When the slot of a batch may be filled; infinite until the batch before it there is taken.
  [[nodiscard]] double free_at(std::size_t batch) const {
    return batch < slots_ ? 0 : batches_[batch - slots_].slot_free;
  }
  /// Counts a sample of the batch. True if it was the last one.
  bool finish_sample(std::size_t batch) { return --batches_[batch].remaining == 0; }
  void complete(std::size_t batch) {
    batches_[batch].complete = true;
    ++completed_;
  }

  /// True if the batch that the training thread takes next is complete.
  [[nodiscard]] bool next_is_complete() const { return batches_[taken_].complete; }
  /// Takes that batch, whose slot is free at `free`. Returns the batch that is filled there next.
  std::size_t take(double free) {
    batches_[taken_].slot_free = free;
    return taken_++ + slots_;
  }
  /// Complete batches that are not taken.
  [[nodiscard]] std::size_t ready() const noexcept { return completed_ - taken_; }

  /// The first sample of the batch that the training thread takes next.
  [[nodiscard]] std::int64_t first_sample() const noexcept {
    return static_cast<std::int64_t>(taken_) * batch_size_;
  }
  /// Everything that decides what happens next, with times from `now`.
  void append_state(double now, RingState& state) const {
    if (own_next_.empty()) state.add_count(next_ - first_sample());
    for (const std::int64_t batch : own_next_) {
      state.add_count(batch - static_cast<std::int64_t>(taken_));
    }
    for (std::size_t batch = taken_; batch < taken_ + slots_; ++batch) {
      state.add_count(batches_[batch].remaining);
      state.add_count(batches_[batch].complete ? 1 : 0);
      state.add_future(free_at(batch) - now);
    }
  }

 private:
  Claim claim_batch(std::int64_t& next) const {
    const std::int64_t batch = std::exchange(next, next + std::ssize(own_next_));
    return {batch * batch_size_, (batch + 1) * batch_size_};
  }

  struct Batch {
    std::int64_t remaining = 0;  ///< samples to finish
    double slot_free = std::numeric_limits<double>::infinity();
    bool complete = false;
  };

  std::int64_t batch_size_;
  std::size_t slots_;
  std::int64_t grain_;  ///< most samples of a claim
  std::vector<Batch> batches_;
  std::int64_t next_ = 0;  ///< first sample that is not claimed
  /// LoaderKind::batch: the next batch of each worker; otherwise empty.
  std::vector<std::int64_t> own_next_;
  std::size_t completed_ = 0;  ///< batches
  std::size_t taken_ = 0;      ///< batches
};

}  // namespace cachebisect

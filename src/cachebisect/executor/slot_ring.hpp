// The ring of batch slots: the only queue. A full ring is the back-pressure.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/batch_slot.hpp"

namespace cachebisect {

/// Batch number b is in slot b % size(). A slot's phase counts up: 2r is free for its r-th batch,
/// 2r + 1 is ready; its highest bit is set while the ring is held. Waiting threads sleep in the
/// kernel (std::atomic::wait on a 32-bit word); every notification is sequentially consistent, so
/// that no wake-up is lost.
class CACHEBISECT_INTERNAL_API SlotRing {
 public:
  SlotRing(std::size_t slots, const Pipeline& pipeline,
           const std::shared_ptr<MemoryResource>& memory);

  /// Empties the ring for batches of `grains` grains. No worker may run.
  void reset(std::int32_t grains);
  /// Wakes all waiting threads; nothing is published until reset().
  void stop() noexcept;
  /// Lets no worker have a slot until unhold(), and wakes those that wait for one. What is ready
  /// stays, and a batch that is begun may still be published.
  void hold() noexcept;
  void unhold() noexcept;

  /// The slot of this batch once it is free and its event has happened; null after stop() or
  /// hold(). Adds the seconds waited.
  BatchSlot* acquire(std::uint64_t sequence, Device& device, double& waited_seconds);
  /// The slot of this batch if it is free now.
  BatchSlot* try_acquire(std::uint64_t sequence, Device& device);
  /// The batch is complete. Wakes the consumer.
  void publish(std::uint64_t sequence) noexcept;

  [[nodiscard]] bool is_ready(std::uint64_t sequence) const noexcept;
  /// The number of consecutive batches from `sequence` on that are ready.
  [[nodiscard]] int ready_from(std::uint64_t sequence) const noexcept;
  [[nodiscard]] const BatchSlot& slot(std::uint64_t sequence) const noexcept {
    return place(sequence).slot;
  }
  /// Free for the next batch after `free_after` (may be null). Wakes the workers that wait for it.
  void release(std::uint64_t sequence, const Event* free_after) noexcept;
  /// Waits until no device reads a slot any more.
  void drain(Device& device);

  /// The word that the consumer waits on: it changes at publish(), stop() and ring_bell().
  [[nodiscard]] std::uint32_t bell() const noexcept { return bell_.load(); }
  void wait_bell(std::uint32_t seen) const noexcept { bell_.wait(seen); }
  void ring_bell() noexcept {
    bell_.fetch_add(1);
    bell_.notify_all();
  }

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  struct Place {
    Place(const Pipeline& pipeline, const std::shared_ptr<MemoryResource>& memory)
        : slot(pipeline, memory) {}
    alignas(64) std::atomic<std::uint32_t> phase{0};
    const Event* free_after = nullptr;
    std::atomic<bool> reusable{true};  // free_after has happened
    BatchSlot slot;
  };

  [[nodiscard]] Place& place(std::uint64_t sequence) const noexcept {
    return *places_[sequence % places_.size()];
  }
  [[nodiscard]] std::uint32_t free_phase(std::uint64_t sequence) const noexcept {
    return static_cast<std::uint32_t>(2 * (sequence / places_.size()));
  }
  /// Checks whether the place's event has happened.
  static bool is_reusable(Place& place, Device& device);
  /// Returns early if the ring is stopped or held.
  static void await_event(Place& place, Device& device);

  std::vector<std::unique_ptr<Place>> places_;
  std::int32_t grains_ = 1;
  alignas(64) std::atomic<std::uint32_t> bell_{0};
};

}  // namespace cachebisect

#include "cachebisect/executor/slot_ring.hpp"

#include "cachebisect/base/clock.hpp"

namespace cachebisect {
namespace {

constexpr std::uint32_t kHeld = 0x80000000;
// Held, odd, and beyond what a ring reaches in 2^30 rounds: neither free nor ready, unheld too.
constexpr std::uint32_t kStopped = 0xFFFFFFFF;

bool is_held(std::uint32_t phase) { return (phase & kHeld) != 0; }

}  // namespace

SlotRing::SlotRing(std::size_t slots, const Pipeline& pipeline,
                   const std::shared_ptr<MemoryResource>& memory) {
  places_.reserve(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    places_.push_back(std::make_unique<Place>(pipeline, memory));
  }
}

void SlotRing::reset(std::int32_t grains) {
  grains_ = grains;
  for (const auto& place : places_) {
    place->free_after = nullptr;
    place->reusable = true;
    place->slot.remaining = grains;
    place->phase = 0;
  }
}

void SlotRing::stop() noexcept {
  for (const auto& place : places_) {
    place->phase.exchange(kStopped);
    place->phase.notify_all();
  }
  ring_bell();
}

void SlotRing::hold() noexcept {
  for (const auto& place : places_) {
    place->phase.fetch_or(kHeld);
    place->phase.notify_all();
  }
}

void SlotRing::unhold() noexcept {
  for (const auto& place : places_) place->phase.fetch_and(~kHeld);
}

bool SlotRing::is_reusable(Place& place, Device& device) {
  if (place.reusable.load(std::memory_order_acquire)) return true;
  if (!device.synchronize_for(*place.free_after, 0)) return false;
  place.reusable.store(true, std::memory_order_release);
  return true;
}

void SlotRing::await_event(Place& place, Device& device) {
  constexpr double slice = 0.1;  // seconds until a stop is noticed
  if (place.reusable.load(std::memory_order_acquire)) return;
  while (!device.synchronize_for(*place.free_after, slice)) {
    if (is_held(place.phase.load(std::memory_order_relaxed))) return;
  }
  place.reusable.store(true, std::memory_order_release);
}

BatchSlot* SlotRing::acquire(std::uint64_t sequence, Device& device, double& waited_seconds) {
  Place& at = place(sequence);
  const std::uint32_t free = free_phase(sequence);
  std::uint32_t phase = at.phase.load(std::memory_order_acquire);
  if (phase == free && is_reusable(at, device)) return &at.slot;
  const double began = monotonic_seconds();
  while (phase != free && !is_held(phase)) {
    at.phase.wait(phase);
    phase = at.phase.load(std::memory_order_acquire);
  }
  if (is_held(phase)) return nullptr;
  await_event(at, device);
  waited_seconds += monotonic_seconds() - began;
  return at.reusable.load(std::memory_order_acquire) ? &at.slot : nullptr;
}

BatchSlot* SlotRing::try_acquire(std::uint64_t sequence, Device& device) {
  Place& at = place(sequence);
  if (at.phase.load(std::memory_order_acquire) != free_phase(sequence)) return nullptr;
  await_event(at, device);
  return &at.slot;
}

void SlotRing::publish(std::uint64_t sequence) noexcept {
  Place& at = place(sequence);
  std::uint32_t phase = at.phase.load();
  while ((phase & ~kHeld) == free_phase(sequence)) {  // else the ring has been stopped
    if (at.phase.compare_exchange_weak(phase, phase + 1)) return ring_bell();
  }
}

bool SlotRing::is_ready(std::uint64_t sequence) const noexcept {
  return place(sequence).phase.load(std::memory_order_acquire) == free_phase(sequence) + 1;
}

int SlotRing::ready_from(std::uint64_t sequence) const noexcept {
  int ready = 0;
  while (static_cast<std::size_t>(ready) < size() && is_ready(sequence)) {
    ++sequence;
    ++ready;
  }
  return ready;
}

void SlotRing::release(std::uint64_t sequence, const Event* free_after) noexcept {
  Place& at = place(sequence);
  std::uint32_t phase = free_phase(sequence) + 1;
  if (at.phase.load(std::memory_order_acquire) != phase) return;
  at.free_after = free_after;
  at.reusable.store(free_after == nullptr, std::memory_order_relaxed);
  at.slot.remaining.store(grains_, std::memory_order_relaxed);
  if (at.phase.compare_exchange_strong(phase, phase + 1)) at.phase.notify_all();
}

void SlotRing::drain(Device& device) {
  for (const auto& place : places_) {
    if (place->free_after != nullptr && !place->reusable) device.synchronize(*place->free_after);
    place->free_after = nullptr;
    place->reusable = true;
  }
}

std::size_t SlotRing::capacity() const noexcept {
  std::size_t bytes = 0;
  for (const auto& place : places_) bytes += place->slot.capacity();
  return bytes;
}

}  // namespace cachebisect

#include "cachebisect/shards/run_buffer.hpp"

#include <thread>
#include <utility>

namespace cachebisect::shards {

RunBuffer::RunBuffer(std::uint64_t runs, std::size_t slots, Read read)
    : read_(std::move(read)), slot_of_(runs), slots_(slots) {
  for (std::atomic<std::uint32_t>& slot : slot_of_) slot = kNowhere;
}

RunBuffer::Lease RunBuffer::get(std::uint64_t run) {
  for (;;) {
    const std::uint32_t at = slot_of_[run];
    if (at == kNowhere) {
      read(run);
      continue;
    }
    Slot& slot = slots_[at];
    // Announced before it is checked: the thread that makes room checks in the other order.
    slot.users.fetch_add(1);
    const std::uint64_t held = slot.run;
    if (held == run) return Lease(slot);
    slot.users.fetch_sub(1);
    if (held == kReading) slot.run.wait(kReading);
  }
}

std::uint32_t RunBuffer::reserve(std::uint64_t run) {
  const std::lock_guard lock(mutex_);
  if (slot_of_[run] != kNowhere) return kNowhere;
  // Slots that are being read are passed over: their thread puts its own run there.
  std::size_t passed = 0;
  while (slots_[next_].run == kReading) {
    if (++passed < slots_.size()) {
      next_ = (next_ + 1) % slots_.size();
    } else {  // There are more threads than slots.
      slots_[next_].run.wait(kReading);
    }
  }
  const auto at = static_cast<std::uint32_t>(next_);
  next_ = (next_ + 1) % slots_.size();
  const std::uint64_t before = slots_[at].run.exchange(kReading);
  if (before != kNone) slot_of_[before] = kNowhere;
  slot_of_[run] = at;
  return at;
}

void RunBuffer::read(std::uint64_t run) {
  const std::uint32_t at = reserve(run);
  if (at == kNowhere) return;
  Slot& slot = slots_[at];
  while (slot.users != 0) std::this_thread::yield();  // They are within one sample.
  const auto publish = [&](std::uint64_t held) {
    slot.run = held;
    slot.run.notify_all();
  };
  try {
    read_(run, slot.bytes);
  } catch (...) {
    slot_of_[run] = kNowhere;
    publish(kNone);
    throw;
  }
  ++reads_;
  publish(run);
}

}  // namespace cachebisect::shards

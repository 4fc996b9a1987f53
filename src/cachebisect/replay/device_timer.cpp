#include "cachebisect/replay/device_timer.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {

DeviceTimer::DeviceTimer(Device& device, std::size_t turns)
    : device_(&device), on_host_(!device.copies()) {
  turns_.reserve(turns);
  for (std::size_t i = 0; i < turns; ++i) {
    turns_.push_back({device.make_event(), device.make_event()});
  }
}

void DeviceTimer::reset(bool observed) {
  for (Turn& turn : turns_) turn.pending = false;
  observed_ = observed;
  sum_ = {};
}

void DeviceTimer::begin(Stream& stream) {
  if (!observed_) return;
  Turn& turn = turns_[next_];
  collect(turn);
  if (on_host_) cpu_began_ = thread_cpu_seconds();
  device_->record(*turn.before, stream);
  turn.queued = monotonic_seconds();
}

void DeviceTimer::end(Stream& stream, std::int64_t samples) {
  if (!observed_) return;
  Turn& turn = turns_[next_];
  device_->record(*turn.after, stream);
  turn.pending = true;
  if (on_host_) sum_.cpu_seconds += thread_cpu_seconds() - cpu_began_;
  sum_.samples += static_cast<std::uint64_t>(samples);
  next_ = (next_ + 1) % turns_.size();
}

void DeviceTimer::collect(Turn& turn) {
  if (!turn.pending) return;
  turn.pending = false;
  if (!device_->synchronize_for(*turn.after, 0)) device_->synchronize(*turn.after);
  // A stream that has run dry begins the work when it is queued.
  const double began = std::max(device_->completion_seconds(*turn.before), turn.queued);
  sum_.busy_seconds += std::max(0.0, device_->completion_seconds(*turn.after) - began);
}

DeviceTime DeviceTimer::total() {
  for (Turn& turn : turns_) collect(turn);
  return sum_;
}

}  // namespace cachebisect

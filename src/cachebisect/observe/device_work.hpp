// A copy or a step on its stream, between two events of the device.
#pragma once

#include <memory>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/loop_event.hpp"

namespace cachebisect {

/// Its events are made beforehand and may be used again: nothing is allocated per batch.
class CACHEBISECT_INTERNAL_API DeviceWork {
 public:
  explicit DeviceWork(Device& device);

  /// `event` is one of a stream.
  void begin(Device& device, const LoopEvent& event);
  void end(Device& device, const LoopEvent& event);

  [[nodiscard]] const Event& ended() const noexcept { return *end_; }
  /// Seconds on the clock of the device, once it has done the work. A step that is queued late
  /// began when its stream became free.
  [[nodiscard]] Interval span(Device& device) const;
  /// The same of a copy: it did not begin before it was queued, where the device has the host's
  /// clock.
  [[nodiscard]] Interval copy_span(Device& device) const;

 private:
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
  double queued_ = 0;  ///< seconds of the monotonic clock
};

}  // namespace cachebisect

#include "cachebisect/observe/device_work.hpp"

#include <algorithm>

namespace cachebisect {

DeviceWork::DeviceWork(Device& device) : begin_(device.make_event()), end_(device.make_event()) {}

void DeviceWork::begin(Device& device, const LoopEvent& event) {
  device.record(*begin_, *event.stream);
  queued_ = event.seconds;
}

void DeviceWork::end(Device& device, const LoopEvent& event) {
  device.record(*end_, *event.stream);
}

Interval DeviceWork::span(Device& device) const {
  return {device.completion_seconds(*begin_), device.completion_seconds(*end_)};
}

Interval DeviceWork::copy_span(Device& device) const {
  Interval copy = span(device);
  if (device.kind() != DeviceKind::cuda) copy.low = std::max(copy.low, queued_);
  return copy;
}

}  // namespace cachebisect

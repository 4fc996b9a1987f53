#include "cachebisect/device/device.hpp"

#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device_ops.hpp"

namespace cachebisect {

Stream::~Stream() = default;
Event::~Event() = default;
Device::~Device() = default;
DeviceOps::~DeviceOps() = default;

bool Device::synchronize_for(const Event& event, double /*seconds*/) {
  synchronize(event);
  return true;
}

void Device::begin_transfer(Stream& /*stream*/) {}

void Device::enqueue_work(Stream& /*stream*/, double /*seconds*/) {
  throw Error(ErrorKind::internal, "planted work was queued on device '" +
                                       std::string(to_string(kind())) +
                                       "'; only the emulated device can take it");
}

}  // namespace cachebisect

#include "cachebisect/device/device.hpp"

#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device_ops.hpp"

namespace cachebisect {

Stream::~Stream() = default;
Event::~Event() = default;
Device::~Device() = default;
DeviceOps::~DeviceOps() = default;

Stream& Device::compute_stream() {
  if (!compute_) compute_ = make_stream();
  return *compute_;
}

bool Device::launching_costs() const noexcept { return kind() == DeviceKind::cuda; }

void Device::abandon(Stream& stream) {
  const std::unique_ptr<Event> end = make_event();
  record(*end, stream);
  synchronize(*end);
}

std::shared_ptr<const void> Device::when_out_of_memory(const std::function<void()>& /*release*/) {
  return nullptr;
}

std::vector<std::uint64_t> Device::checksums(std::span<const ConstTensorView> /*tensors*/) {
  return {};
}

bool Device::synchronize_for(const Event& event, double /*seconds*/) {
  synchronize(event);
  return true;
}

void Device::begin_transfer(Stream& /*stream*/) {}

void Device::enqueue_work(Stream& /*stream*/, double /*seconds*/) {
  throw Error(ErrorKind::internal, "planted work was queued on device '" +
                                       std::string(to_string(kind())) +
                                       "'; only the emulated device and CUDA can take it");
}

}  // namespace cachebisect

// Shows that a test of ordering can fail.
#pragma once

#include "support/forwarding_device.hpp"

namespace cachebisect::test {

/// A CUDA device on which one kind of ordering is left out.
class CarelessDevice final : public ForwardingDevice {
 public:
  enum class Without { waits, slot_events };
  explicit CarelessDevice(Without without)
      : ForwardingDevice(make_cuda_device(0)), without_(without) {}

  void wait(Stream& stream, const Event& event) override {
    if (without_ != Without::waits) ForwardingDevice::wait(stream, event);
  }
  [[nodiscard]] bool synchronize_for(const Event& event, double seconds) override {
    // The ring asks for the events of its slots without waiting first.
    if (without_ == Without::slot_events && seconds == 0) return true;
    return ForwardingDevice::synchronize_for(event, seconds);
  }
  [[nodiscard]] double completion_seconds(const Event& event) override {
    synchronize(event);
    return ForwardingDevice::completion_seconds(event);
  }

 private:
  Without without_;
};

}  // namespace cachebisect::test

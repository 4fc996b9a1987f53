// The cpu as a device: nothing is queued, slots are handed over without a copy.
#include <cstring>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/host_ops.hpp"

namespace cachebisect {
namespace {

class CpuStream final : public Stream {};

class CpuEvent final : public Event {
 public:
  double seconds = 0;
};

class CpuDevice final : public Device {
 public:
  CpuDevice() : ops_(make_host_ops()), memory_(host_memory()) {
    info_.kind = DeviceKind::cpu;
    info_.name = "CPU";
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool /*pinned*/) override {
    return memory_;
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return memory_; }
  [[nodiscard]] bool copies() const noexcept override { return false; }
  [[nodiscard]] bool has_data() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CpuStream>();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<CpuEvent>();
  }
  void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes, Stream& /*stream*/,
                      bool /*blocking*/) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void record(Event& event, Stream& /*stream*/) override {
    dynamic_cast<CpuEvent&>(event).seconds = monotonic_seconds();
  }
  void wait(Stream& /*stream*/, const Event& /*event*/) override {}
  void synchronize(const Event& /*event*/) override {}
  [[nodiscard]] double completion_seconds(const Event& event) override {
    return dynamic_cast<const CpuEvent&>(event).seconds;
  }
  [[nodiscard]] DeviceOps& ops() override { return *ops_; }

 private:
  DeviceInfo info_;
  std::unique_ptr<DeviceOps> ops_;
  std::shared_ptr<MemoryResource> memory_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace cachebisect

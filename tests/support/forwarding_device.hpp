// The base of devices for tests that differ from another device in a few calls.
#pragma once

#include <memory>
#include <utility>

#include "cachebisect/device/device.hpp"

namespace cachebisect::test {

/// Forwards every call to another device, except checksums(): those wait for the compute stream of
/// the device that is asked, and this one has its own.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_->info(); }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool pinned) override {
    return device_->slot_memory(pinned);
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override {
    return device_->device_memory();
  }
  [[nodiscard]] bool copies() const noexcept override { return device_->copies(); }
  [[nodiscard]] bool launching_costs() const noexcept override {
    return device_->launching_costs();
  }
  [[nodiscard]] bool has_data() const noexcept override { return device_->has_data(); }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return device_->make_stream(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return device_->make_event(); }
  [[nodiscard]] std::unique_ptr<Event> make_spinning_event() override {
    return device_->make_spinning_event();
  }
  [[nodiscard]] Stream* default_stream() noexcept override { return device_->default_stream(); }
  void begin_transfer(Stream& stream) override { device_->begin_transfer(stream); }
  void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes, Stream& stream,
                      bool blocking) override {
    device_->copy_to_device(to, from, bytes, stream, blocking);
  }
  void record(Event& event, Stream& stream) override { device_->record(event, stream); }
  void wait(Stream& stream, const Event& event) override { device_->wait(stream, event); }
  void synchronize(const Event& event) override { device_->synchronize(event); }
  [[nodiscard]] bool synchronize_for(const Event& event, double seconds) override {
    return device_->synchronize_for(event, seconds);
  }
  [[nodiscard]] double completion_seconds(const Event& event) override {
    return device_->completion_seconds(event);
  }
  void abandon(Stream& stream) override { device_->abandon(stream); }
  void enqueue_work(Stream& stream, double seconds) override {
    device_->enqueue_work(stream, seconds);
  }
  [[nodiscard]] DeviceOps& ops() override { return device_->ops(); }
  void throw_if_failed() override { device_->throw_if_failed(); }
  [[nodiscard]] std::uint64_t held_bytes() const override { return device_->held_bytes(); }
  bool free_unused() override { return device_->free_unused(); }
  [[nodiscard]] std::shared_ptr<const void> when_out_of_memory(
      const std::function<void()>& release) override {
    return device_->when_out_of_memory(release);
  }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace cachebisect::test

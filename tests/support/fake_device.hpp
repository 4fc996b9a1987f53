// A device in virtual time: the host's clock moves only while the thread that made the device
// waits, so the effect of the training loop on the timeline is exact on any machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "cachebisect/device/device.hpp"
#include "cachebisect/device/emulated_timeline.hpp"

namespace cachebisect::test {

class FakeDevice final : public Device {
 public:
  /// `free_bytes`: what it tells of its memory.
  explicit FakeDevice(double copy_seconds, std::optional<std::uint64_t> free_bytes = std::nullopt)
      : copy_seconds_(copy_seconds) {
    info_.kind = DeviceKind::cuda;
    info_.name = "fake";
    info_.free_bytes = free_bytes;
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool /*pinned*/) override {
    return memory_;
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return memory_; }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] bool has_data() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<FakeStream>();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<FakeEvent>();
  }
  void copy_to_device(std::byte* /*to*/, const std::byte* /*from*/, std::size_t /*bytes*/,
                      Stream& stream, bool blocking) override {
    end(stream) = std::max(end(stream), now_.load()) + copy_seconds_;
    if (blocking) now_ = end(stream);
    ++copies_made;
  }
  void record(Event& event, Stream& stream) override {
    at(event) = std::max(end(stream), now_.load());
  }
  void wait(Stream& stream, const Event& event) override {
    end(stream) = std::max(end(stream), at(event));
  }
  void synchronize(const Event& event) override { now_ = std::max(now_.load(), at(event)); }
  [[nodiscard]] bool synchronize_for(const Event& event, double seconds) override {
    if (std::this_thread::get_id() != host_) {
      if (at(event) > now_) std::this_thread::yield();
      return at(event) <= now_;
    }
    if (at(event) > now_ + seconds)
      now_ = now_ + seconds;
    else
      now_ = std::max(now_.load(), at(event));
    return at(event) <= now_;
  }
  [[nodiscard]] double completion_seconds(const Event& event) override { return at(event); }
  void enqueue_work(Stream& stream, double seconds) override {
    end(stream) = std::max(end(stream), now_.load()) + seconds;
  }
  [[nodiscard]] DeviceOps& ops() override { throw std::logic_error("no operations here"); }

  int copies_made = 0;

 private:
  struct FakeStream final : Stream {
    double end = 0;
  };
  struct FakeEvent final : Event {
    double seconds = 0;
  };
  static double& end(Stream& stream) { return dynamic_cast<FakeStream&>(stream).end; }
  static double& at(Event& event) { return dynamic_cast<FakeEvent&>(event).seconds; }
  static double at(const Event& event) { return dynamic_cast<const FakeEvent&>(event).seconds; }

  DeviceInfo info_;
  std::shared_ptr<MemoryResource> memory_ = host_memory();
  double copy_seconds_;
  const std::thread::id host_ = std::this_thread::get_id();
  std::atomic<double> now_ = 0;
};

}  // namespace cachebisect::test

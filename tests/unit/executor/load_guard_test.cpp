#include "cachebisect/executor/load_guard.hpp"

#include "support/errors.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// A cpu that loses its events: what waits for one fails.
class FailingDevice final : public Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return cpu_->info(); }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool pinned) override {
    return cpu_->slot_memory(pinned);
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override {
    return cpu_->device_memory();
  }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] bool has_data() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return cpu_->make_stream(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }
  void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes, Stream& stream,
                      bool blocking) override {
    cpu_->copy_to_device(to, from, bytes, stream, blocking);
  }
  void record(Event& event, Stream& stream) override { cpu_->record(event, stream); }
  void wait(Stream& stream, const Event& event) override { cpu_->wait(stream, event); }
  void synchronize(const Event& /*event*/) override {
    throw Error(ErrorKind::device, "the device fell off the bus");
  }
  [[nodiscard]] bool synchronize_for(const Event& /*event*/, double /*seconds*/) override {
    return false;
  }
  [[nodiscard]] double completion_seconds(const Event& event) override {
    return cpu_->completion_seconds(event);
  }
  [[nodiscard]] DeviceOps& ops() override { return cpu_->ops(); }

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

}  // namespace

TEST_CASE("a device that fails while an error is on its way out does not end the process") {
  const Pipeline pipeline = PipelineBuilder()
                                .source("read", toy_source({}))
                                .collate()
                                .copy()
                                .batch_size(4)
                                .workers(1)
                                .build();
  FailingDevice device;
  Executor loader(pipeline, device, {.workers = 1});
  const std::unique_ptr<Event> copied = device.make_event();
  const std::string message = error_of([&] {
    const LoadGuard running(loader, {});
    loader.release(loader.next({}), copied.get());  // halting waits for this event
    throw Error(ErrorKind::data, "the first error");
  });
  CHECK(message == "3: the first error");
}

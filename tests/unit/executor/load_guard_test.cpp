#include "cachebisect/executor/load_guard.hpp"

#include "support/errors.hpp"
#include "support/forwarding_device.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// A cpu that loses its events: what waits for one fails.
class FailingDevice final : public ForwardingDevice {
 public:
  FailingDevice() : ForwardingDevice(make_cpu_device()) {}
  [[nodiscard]] bool copies() const noexcept override { return true; }
  void synchronize(const Event& /*event*/) override {
    throw Error(ErrorKind::device, "the device fell off the bus");
  }
  [[nodiscard]] bool synchronize_for(const Event& /*event*/, double /*seconds*/) override {
    return false;
  }
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

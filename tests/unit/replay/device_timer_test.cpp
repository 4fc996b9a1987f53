#include "cachebisect/replay/loop/device_timer.hpp"

#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

namespace {

// Virtual time of the host, advanced only by turns and clock readings.
double device_time = 0;

ProbeClocks virtual_clocks() {
  constexpr double kReading = 35e-9;
  return {.wall = +[]() noexcept { return device_time += kReading; },
          .cpu = +[]() noexcept { return device_time += kReading; }};
}

/// Executes everything at once, and counts the recorded events.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(bool copies) : copies_(copies) {}
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool /*pinned*/) override {
    return host_memory();
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return host_memory(); }
  [[nodiscard]] bool copies() const noexcept override { return copies_; }
  [[nodiscard]] bool has_data() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<NoStream>();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return std::make_unique<Moment>(); }
  void copy_to_device(std::byte* /*to*/, const std::byte* /*from*/, std::size_t /*bytes*/,
                      Stream& /*stream*/, bool /*blocking*/) override {}
  void record(Event& event, Stream& /*stream*/) override {
    dynamic_cast<Moment&>(event).seconds = device_time;
    ++recorded;
  }
  void wait(Stream& /*stream*/, const Event& /*event*/) override {}
  void synchronize(const Event& /*event*/) override {}
  [[nodiscard]] bool synchronize_for(const Event& /*event*/, double /*seconds*/) override {
    return true;
  }
  [[nodiscard]] double completion_seconds(const Event& event) override {
    return dynamic_cast<const Moment&>(event).seconds;
  }
  [[nodiscard]] DeviceOps& ops() override { throw std::logic_error("no operations here"); }

  int recorded = 0;

 private:
  struct NoStream final : Stream {};
  struct Moment final : Event {
    double seconds = 0;
  };
  DeviceInfo info_;
  bool copies_;
};

/// `turns` turns of 8 samples, one every `each` seconds of the training thread.
DeviceTime run(DeviceTimer& timer, Stream& stream, int turns, double work, double each) {
  timer.reset(true);
  device_time = 100;
  for (int i = 0; i < turns; ++i) {
    timer.begin(stream);
    device_time += work;
    timer.end(stream, 8);
    device_time += each - work;
  }
  return timer.total();
}

}  // namespace

TEST_CASE("long turns are all measured, and short ones are sampled and scaled up") {
  for (const bool copies : {true, false}) {
    CAPTURE(copies);
    CountingDevice device(copies);
    const auto stream = device.make_stream();
    DeviceTimer timer(device, 4, virtual_clocks());
    const DeviceTime slow = run(timer, *stream, 40, 5e-3, 25e-3);
    CHECK(device.recorded == 80);
    CHECK(slow.samples == 320);
    CHECK(slow.busy_seconds == doctest::Approx(40 * 5e-3).epsilon(1e-4));

    device.recorded = 0;
    constexpr int kTurns = 20000;
    const DeviceTime quick = run(timer, *stream, kTurns, 2e-6, 4e-6);
    CHECK(device.recorded < kTurns / 20);
    CHECK(quick.samples == 8 * kTurns);
    // One clock reading lies between the two events.
    CHECK(quick.busy_seconds == doctest::Approx(kTurns * 2e-6).epsilon(0.05));
    CHECK((quick.cpu_seconds > 0) == !copies);
    if (!copies) CHECK(quick.cpu_seconds == doctest::Approx(kTurns * 2e-6).epsilon(0.1));
  }
}

TEST_CASE("measuring takes at most 0.05% of the training thread's time") {
  for (const double each : {2e-6, 20e-6, 200e-6}) {
    CAPTURE(each);
    CountingDevice device(false);
    const auto stream = device.make_stream();
    DeviceTimer timer(device, 4, virtual_clocks());
    constexpr int kTurns = 50000;
    run(timer, *stream, kTurns, each, each);
    CHECK((device_time - 100) / (kTurns * each) - 1 < 0.0006);
  }
}

TEST_CASE("nothing is recorded without observation") {
  CountingDevice device(true);
  const auto stream = device.make_stream();
  DeviceTimer timer(device, 4, virtual_clocks());
  timer.reset(false);
  timer.begin(*stream);
  timer.end(*stream, 8);
  CHECK(device.recorded == 0);
  CHECK(timer.total().samples == 0);
}

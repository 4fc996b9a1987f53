// Times on a CUDA device are differences of its events, whatever its clock shows.
#include <cmath>
#include <memory>

#include "cuda_stub/machine.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"

using namespace cachebisect;
using cuda_stub::Machine;

namespace {

constexpr std::size_t kBytes = 30'000;  // 3 us

Machine* present = nullptr;

/// The host's clock is the machine's.
ProbeClocks clocks_of(Machine& machine) {
  present = &machine;
  return {.wall = +[]() noexcept { return present->host_seconds(); },
          .cpu = +[]() noexcept { return present->host_seconds(); }};
}

/// Seconds per copy of kBytes at 10 GB/s, timed as the training loop does, a minute after the
/// device was opened.
double copy_seconds(const cuda_stub::MachineOptions& options) {
  Machine machine(options);
  const ProbeClocks clocks = clocks_of(machine);
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  const auto done = device->make_event();
  Buffer from(device->slot_memory(true));
  Buffer to(device->device_memory());
  from.reserve(kBytes);
  to.reserve(kBytes);
  machine.pass(60);
  DeviceTimer timer(*device, 4, clocks);
  timer.reset(true);
  for (int turn = 0; turn < 20; ++turn) {
    timer.begin(*stream);
    device->copy_to_device(to.data(), from.data(), kBytes, *stream, false);
    timer.end(*stream, 1);
    device->record(*done, *stream);
    device->synchronize(*done);
    machine.pass(1e-3);
  }
  return timer.total().busy_seconds / 20;
}

}  // namespace

TEST_CASE("copies are timed by the device alone, at any offset and drift of its clock") {
  for (const double offset : {0.0, -1e6, 3e5}) {
    for (const double drift : {0.0, 20e-6, -20e-6}) {
      CAPTURE(offset);
      CAPTURE(drift);
      const double seconds = copy_seconds({.clock_offset = offset, .clock_drift = drift});
      CHECK(std::abs(seconds - 3e-6) < 0.1e-6);
    }
  }
}

TEST_CASE("differences of event times do not jump when the clock's base moves") {
  Machine machine({.clock_drift = 20e-6});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  const auto at = [&] {
    auto event = device->make_event();
    device->record(*event, *stream);
    device->synchronize(*event);
    return event;
  };
  const auto first = at();
  const double start = device->completion_seconds(*first);
  machine.pass(1);
  const auto second = at();
  for (int minute = 1; minute <= 10; ++minute) {
    machine.pass(60);
    CHECK(std::abs(device->completion_seconds(*at()) - start - (1 + 60.0 * minute) * (1 + 20e-6)) <
          1e-4);
    const double gap = device->completion_seconds(*second) - device->completion_seconds(*first);
    CHECK(std::abs(gap - (1 + 20e-6)) < 1e-4);
  }
}

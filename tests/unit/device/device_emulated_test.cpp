#include <array>
#include <vector>

#include "support/errors.hpp"
#include "support/passed_time.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/device/emulated_timeline.hpp"

using namespace cachebisect;
using test::Beginning;
using test::has_passed;

namespace {

/// The training loop's submissions in virtual time: `copy` and `step` seconds, `buffers` device
/// buffers, batches ready at once. Returns the seconds per step over the last `steps`.
double virtual_step(double copy, double step, bool own_copy_stream, int buffers, double lateness) {
  EmulatedTimeline copies;
  EmulatedTimeline compute;
  constexpr int kWarmup = 10;
  constexpr int kSteps = 100;
  std::vector<double> done;  // of each step
  double now = 100;
  for (int i = 0; i < kWarmup + kSteps; ++i) {
    if (i >= buffers) {  // sleeps until a buffer is free, and wakes up late
      now = std::max(now, done[static_cast<std::size_t>(i - buffers)] + lateness);
    }
    EmulatedTimeline& stream = own_copy_stream ? copies : compute;
    if (i >= buffers) stream.wait_until(done[static_cast<std::size_t>(i - buffers)]);
    stream.add_copy(now, copy);
    compute.wait_until(stream.mark(now));
    compute.add_work(now, step);
    done.push_back(compute.mark(now));
  }
  return (done.back() - done[kWarmup - 1]) / kSteps;
}

}  // namespace

TEST_CASE("copies overlap steps on a separate stream and add to them on the same stream") {
  CHECK(virtual_step(2e-3, 5e-3, true, 3, 0) == doctest::Approx(5e-3).epsilon(1e-9));
  CHECK(virtual_step(5e-3, 2e-3, true, 3, 0) == doctest::Approx(5e-3).epsilon(1e-9));
  CHECK(virtual_step(2e-3, 5e-3, false, 3, 0) == doctest::Approx(7e-3).epsilon(1e-9));
}

TEST_CASE("waking up late does not move the timeline while a buffer is ready") {
  CHECK(virtual_step(0.1e-3, 1e-3, true, 3, 0.7e-3) == doctest::Approx(1e-3).epsilon(1e-9));
}

TEST_CASE("work begins at the end of the queued work however late it is submitted") {
  EmulatedTimeline timeline;
  timeline.add_work(10.0, 1.0);
  CHECK(timeline.mark(10.0) == 11.0);
  timeline.add_work(15.0, 1.0);  // the host woke up late
  CHECK(timeline.mark(15.0) == 12.0);
  timeline.add_copy(15.0, 0.5);  // a late copy does start late
  CHECK(timeline.mark(15.0) == 15.5);
}

TEST_CASE("a stream that the host has seen empty begins at submission") {
  EmulatedTimeline timeline;
  timeline.add_work(10.0, 1.0);
  const std::uint64_t first = timeline.queued();
  timeline.add_work(10.0, 1.0);
  timeline.drained_to(first);  // only a part
  timeline.add_work(20.0, 1.0);
  CHECK(timeline.mark(20.0) == 13.0);
  timeline.drained_to(timeline.queued());
  CHECK(timeline.mark(30.0) == 30.0);
  timeline.add_work(31.0, 1.0);
  CHECK(timeline.mark(31.0) == 32.0);
  timeline.drained_to(first);  // an older position changes nothing
  timeline.add_work(40.0, 1.0);
  CHECK(timeline.mark(40.0) == 33.0);
}

TEST_CASE("a transfer pays the latency once however many fields it has") {
  const auto device = make_emulated_device({.copy_gb_per_s = 1, .copy_latency_us = 1e6});
  const auto stream = device->make_stream();
  const auto seconds = [&](bool one_transfer) {
    const auto before = device->make_event();
    const auto after = device->make_event();
    device->copy_to_device(nullptr, nullptr, 1'000'000'000'000, *stream, false);  // never idle
    device->record(*before, *stream);
    if (one_transfer) device->begin_transfer(*stream);
    device->copy_to_device(nullptr, nullptr, 1'000'000'000, *stream, false);
    device->copy_to_device(nullptr, nullptr, 2'000'000'000, *stream, false);
    device->record(*after, *stream);
    return device->completion_seconds(*after) - device->completion_seconds(*before);
  };
  CHECK(seconds(true) == doctest::Approx(1.0 + 3.0));
  CHECK(seconds(false) == doctest::Approx(2.0 + 3.0));  // the last one ended with its record()
  CHECK(seconds(true) == doctest::Approx(1.0 + 3.0));
}

TEST_CASE("the emulated device puts copies and work on its timeline") {
  const auto device = make_emulated_device({.copy_gb_per_s = 1, .copy_latency_us = 1e6});
  CHECK(device->kind() == DeviceKind::emulated);
  CHECK(device->copies());
  CHECK_FALSE(device->has_data());
  CHECK(device->info().copy_gb_per_s == 1.0);
  const auto copies = device->make_stream();
  const auto compute = device->make_stream();
  const auto copied = device->make_event();
  const auto first = device->make_event();
  const auto second = device->make_event();

  // Seconds long and never waited for: only the arithmetic is tested.
  const Beginning start;
  device->copy_to_device(nullptr, nullptr, 2'000'000'000, *copies, false);
  device->record(*copied, *copies);
  device->wait(*compute, *copied);
  device->enqueue_work(*compute, 5.0);
  device->record(*first, *compute);
  device->enqueue_work(*compute, 0.5);
  device->record(*second, *compute);

  const double end_of_copy = device->completion_seconds(*copied);
  CHECK(has_passed(end_of_copy - 3.0));
  CHECK(start.is_before(end_of_copy - 3.0));
  CHECK(device->completion_seconds(*first) - end_of_copy == doctest::Approx(5.0));
  CHECK(device->completion_seconds(*second) - end_of_copy == doctest::Approx(5.5));
}

TEST_CASE("synchronize waits for the event without using CPU") {
  const auto device = make_emulated_device({});
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  device->enqueue_work(*stream, 0.05);
  device->record(*event, *stream);
  const double cpu = thread_cpu_seconds();
  device->synchronize(*event);
  CHECK(has_passed(device->completion_seconds(*event)));
  CHECK(thread_cpu_seconds() - cpu < 0.025);
  device->synchronize(*device->make_event());  // never recorded: nothing to wait for

  device->copy_to_device(nullptr, nullptr, 1'000'000, *stream, true);
  device->record(*event, *stream);
  CHECK(has_passed(device->completion_seconds(*event)));
}

TEST_CASE("launches that take longer than their work are what a step takes") {
  const auto device = make_emulated_device({.launch_us = 100});
  CHECK(device->launching_costs());
  CHECK_FALSE(make_emulated_device({})->launching_costs());
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  std::vector<double> ends;
  const Beginning start;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 50; ++i) device->enqueue_work(*stream, 10e-6);
    device->record(*event, *stream);
    ends.push_back(device->completion_seconds(*event));
  }
  CHECK(start.is_past(15e-3));  // the host is held
  CHECK(start.is_before(ends[0] - 5e-3));
  // However late the host wakes up, it is not later than that by the end.
  CHECK(ends[2] - ends[1] >= 4.9e-3);
  CHECK(has_passed(ends[2] - 20e-6));
}

TEST_CASE("a queue that is full holds the host") {
  const auto device = make_emulated_device({.launch_queue = 2});
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  const Beginning start;
  for (int i = 0; i < 4; ++i) device->enqueue_work(*stream, 10e-3);
  device->record(*event, *stream);
  CHECK(start.is_past(20e-3));  // two of four have run
  CHECK(start.is_before(device->completion_seconds(*event) - 40e-3));
}

TEST_CASE("the clock of a device that is told so falls under load") {
  const auto device = make_emulated_device({.clock_drop = 0.5});
  CHECK(device->info().clock_falls);
  const auto stream = device->make_stream();
  const auto first = device->make_event();
  const auto second = device->make_event();
  device->enqueue_work(*stream, 1.0);  // never waited for
  device->record(*first, *stream);
  device->enqueue_work(*stream, 1.0);
  device->record(*second, *stream);
  CHECK(device->completion_seconds(*second) - device->completion_seconds(*first) ==
        doctest::Approx(2.0).epsilon(1e-6));
}

TEST_CASE("emulated device memory has addresses without memory") {
  const auto device = make_emulated_device({});
  const auto memory = device->device_memory();
  CHECK(memory->kind() == MemoryKind::device);
  // More than most machines have, and less than a sanitizer's address space: no byte is backed.
  constexpr std::size_t kBytes = std::size_t{1} << 38;
  std::byte* data = memory->allocate(kBytes);
  CHECK(data != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(data) % MemoryResource::kAlignment == 0);
  memory->deallocate(data, kBytes);
  CHECK(test::has(
      test::error_message([&] { (void)memory->allocate(std::size_t{1} << 62); }, ErrorKind::device),
      "4611686018427387904 bytes"));
  CHECK(device->slot_memory(true)->kind() == MemoryKind::host);
}

TEST_CASE("emulated operations check their arguments and access no memory") {
  const auto device = make_emulated_device({});
  const auto stream = device->make_stream();
  const auto from = dense_view(static_cast<const std::byte*>(nullptr), DType::uint8, Shape{2, 3});
  const auto to = dense_view(static_cast<std::byte*>(nullptr), DType::float32, Shape{2, 3});
  device->ops().cast(from, to, *stream);
  const std::array<float, 2> two{1, 2};
  CHECK_THROWS_AS(device->ops().affine(from, to, two, two, 1, *stream), Error);
}

TEST_CASE("invalid options are refused, and planted work needs the emulated device") {
  CHECK_THROWS_AS((void)make_emulated_device({.copy_gb_per_s = 0}), Error);
  CHECK_THROWS_AS((void)make_emulated_device({.copy_latency_us = -1}), Error);
  CHECK_THROWS_AS((void)make_emulated_device({.clock_drop = 1}), Error);
  CHECK_THROWS_AS((void)make_emulated_device({.clock_drop = -0.1}), Error);
  CHECK_THROWS_AS((void)make_emulated_device({.launch_us = -1}), Error);
  CHECK_THROWS_AS((void)make_emulated_device({.launch_queue = 0}), Error);
  const auto cpu = make_cpu_device();
  const auto stream = cpu->make_stream();
  CHECK(test::error_message([&] { cpu->enqueue_work(*stream, 1); }, ErrorKind::internal) != "");
}

TEST_CASE("cpu events carry the time of their recording") {
  const auto cpu = make_cpu_device();
  CHECK_FALSE(cpu->copies());
  CHECK(cpu->has_data());
  const auto stream = cpu->make_stream();
  const auto event = cpu->make_event();
  const Beginning start;
  cpu->record(*event, *stream);
  cpu->synchronize(*event);
  CHECK(start.is_before(cpu->completion_seconds(*event)));
  CHECK(has_passed(cpu->completion_seconds(*event)));
}

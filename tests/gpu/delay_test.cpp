// Work that takes a given time on a CUDA device, and what must not happen to buffers meanwhile.
#include <cstring>
#include <memory>
#include <vector>

#include "support/gpu_job.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// Seconds that the device is busy: far longer than the host needs to queue what follows.
constexpr double kLong = 0.5;
constexpr std::size_t kBytes = 1 << 20;

struct Fixture {
  std::unique_ptr<Device> cuda = make_cuda_device(0);
  std::unique_ptr<Stream> stream = cuda->make_stream();
  std::unique_ptr<Stream> other = cuda->make_stream();
  std::unique_ptr<Event> first = cuda->make_event();
  std::unique_ptr<Event> second = cuda->make_event();
  Buffer host{cuda->slot_memory(true)};
  Buffer result{cuda->slot_memory(true)};
  Buffer device{cuda->device_memory()};

  Fixture() {
    std::memset(host.reserve(kBytes), 'a', kBytes);
    std::memset(result.reserve(kBytes), '?', kBytes);
    cuda->copy_to_device(device.reserve(kBytes), host.data(), kBytes, *stream, true);
  }

  /// Reads the device's buffer after `kLong` seconds of work.
  void read_late() {
    cuda->enqueue_work(*stream, kLong);
    test::enqueue_copy(*cuda, device.data(), result.data(), kBytes, *stream);
    cuda->record(*first, *stream);
  }

  [[nodiscard]] bool result_is(char value) const {
    const std::vector<char> expected(kBytes, value);
    return std::memcmp(result.data(), expected.data(), kBytes) == 0;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "work takes at least the seconds asked for, by the device's events" *
                               doctest::skip(test::no_cuda_device())) {
  for (const double seconds : {50e-6, 1e-3, 20e-3}) {
    CAPTURE(seconds);
    cuda->record(*first, *stream);
    cuda->enqueue_work(*stream, seconds);
    cuda->record(*second, *stream);
    cuda->synchronize(*second);
    const double taken = cuda->completion_seconds(*second) - cuda->completion_seconds(*first);
    // A tick of the device's timer may be missing, and of its events' clock (0.5 us).
    CHECK(taken > seconds - 2e-6);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "the host does not wait for work" * doctest::skip(test::no_cuda_device())) {
  cuda->enqueue_work(*stream, kLong);
  cuda->record(*first, *stream);
  CHECK_FALSE(cuda->synchronize_for(*first, 0));
  cuda->synchronize(*first);
  CHECK(cuda->synchronize_for(*first, 0));
}

TEST_CASE_FIXTURE(Fixture, "a copy behind work reads page-locked memory when the work is done" *
                               doctest::skip(test::no_cuda_device())) {
  cuda->enqueue_work(*stream, kLong);
  cuda->copy_to_device(device.data(), host.data(), kBytes, *stream, false);
  std::memset(host.data(), 'b', kBytes);  // what the executor never does
  test::enqueue_copy(*cuda, device.data(), result.data(), kBytes, *stream);
  cuda->record(*first, *stream);
  cuda->synchronize(*first);
  CHECK(result_is('b'));
}

TEST_CASE_FIXTURE(Fixture, "a buffer scribbled after the awaited event keeps what was read" *
                               doctest::skip(test::no_cuda_device())) {
  read_late();
  cuda->wait(*other, *first);
  std::memset(host.data(), 'b', kBytes);
  cuda->copy_to_device(device.data(), host.data(), kBytes, *other, false);
  cuda->record(*second, *other);
  cuda->synchronize(*second);
  CHECK(result_is('a'));
}

TEST_CASE_FIXTURE(Fixture, "a buffer scribbled without waiting for the event loses it" *
                               doctest::skip(test::no_cuda_device())) {
  read_late();
  std::memset(host.data(), 'b', kBytes);
  cuda->copy_to_device(device.data(), host.data(), kBytes, *other, false);
  cuda->record(*second, *other);
  cuda->synchronize(*second);
  cuda->synchronize(*first);
  CHECK(result_is('b'));
}

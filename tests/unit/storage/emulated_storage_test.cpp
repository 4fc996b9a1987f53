// Threads that ask emulated storage for bytes wait for it, and are counted.
#include "cachebisect/storage/emulated_storage.hpp"

#include <cstdint>
#include <thread>
#include <vector>

#include "support/passed_time.hpp"
#include "support/storage_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;

namespace {

StorageSettings with_latency(double seconds) {
  StorageSettings settings = test::unlimited_storage();
  settings.median_seconds = seconds;
  settings.p99_seconds = seconds;
  return settings;
}

bool is_interrupted(EmulatedStorage& storage, const std::stop_token& stop) {
  try {
    storage.read(1, stop);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::interrupted;
  }
  return false;
}

}  // namespace

TEST_CASE("a request takes the latency and the time of its bytes, never less") {
  StorageSettings settings = with_latency(0.002);
  settings.bytes_per_second = 1e6;
  EmulatedStorage storage(settings);
  const test::Beginning began;
  for (int i = 0; i < 3; ++i) storage.read(1000, {});
  CHECK(began.is_past(0.009));
  const StorageTotals totals = storage.totals();
  CHECK(totals.requests == 3);
  CHECK(totals.bytes == 3000);
  CHECK(totals.seconds >= 0.009);
  CHECK(totals.throttled == 0);
}

TEST_CASE("all threads share the bandwidth and the rate of requests") {
  StorageSettings settings = test::unlimited_storage();
  settings.bytes_per_second = 1e6;
  settings.requests_per_second = 200;
  settings.burst = 1;
  EmulatedStorage storage(settings);
  const test::Beginning began;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 3; ++k) storage.read(100, {});
      });
    }
  }
  // Of twelve requests one is the burst.
  CHECK(began.is_past(0.99 * 11 / 200));
  CHECK(storage.totals().requests == 12);
  CHECK(storage.totals().bytes == 1200);
}

TEST_CASE("a stop ends a wait, for an answer and for the turn to ask") {
  EmulatedStorage slow(with_latency(3000));
  StorageSettings settings = test::unlimited_storage();
  settings.requests_per_second = 1e-4;
  settings.burst = 1;
  EmulatedStorage refusing(settings);
  refusing.read(1, {});
  for (EmulatedStorage* storage : {&slow, &refusing}) {
    std::stop_source stop;
    bool interrupted = false;
    {
      const std::jthread waiting([&] { interrupted = is_interrupted(*storage, stop.get_token()); });
      stop.request_stop();
    }
    CHECK(interrupted);
    CHECK(is_interrupted(*storage, stop.get_token()));
  }
  CHECK(slow.totals().requests == 0);
}

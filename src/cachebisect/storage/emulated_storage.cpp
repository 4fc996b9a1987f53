#include "cachebisect/storage/emulated_storage.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr double kStopNoticedSeconds = 0.02;

void sleep_unless_stopped(double due, const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
    const double now = monotonic_seconds();
    if (now >= due) return;
    sleep_until(std::min(due, now + kStopNoticedSeconds));
  }
}

}  // namespace

void EmulatedStorage::read(std::uint64_t bytes, const std::stop_token& stop) {
  const double began = monotonic_seconds();
  Asked asked = ask(bytes);
  const bool throttled = asked.refused;
  while (asked.refused) {
    sleep_unless_stopped(asked.until, stop);
    asked = ask(bytes);
  }
  sleep_unless_stopped(asked.until, stop);
  const std::scoped_lock lock(mutex_);
  ++totals_.requests;
  totals_.seconds += monotonic_seconds() - began;
  totals_.bytes += static_cast<double>(bytes);
  if (throttled) ++totals_.throttled;
}

EmulatedStorage::Asked EmulatedStorage::ask(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const double now = monotonic_seconds();
  if (const auto answer = model_.admit(now, bytes)) return {.until = answer->last_byte};
  return {.refused = true, .until = now + model_.seconds_until_admitted(now)};
}

StorageTotals EmulatedStorage::totals() const {
  const std::scoped_lock lock(mutex_);
  return totals_;
}

}  // namespace cachebisect

#include "cachebisect/replay/loop/copy_peak.hpp"

#include <algorithm>
#include <cstring>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/memory.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20U;
constexpr int kPasses = 6;

/// With less free memory than some copies of it, the job itself is short of it.
bool is_short_of_memory(const DeviceInfo& info) {
  return info.free_bytes && *info.free_bytes < 3 * kBytes;
}

}  // namespace

CopyPeak measure_copy_peak(Device& device, const DeviceMonitor& monitor,
                           const std::stop_token& stop) {
  CopyPeak peak;
  peak.gb_per_s = device.info().copy_gb_per_s;
  if (!device.copies() || !device.has_data() || is_short_of_memory(device.info())) return peak;
  Buffer from(device.slot_memory(true));
  Buffer to(device.device_memory());
  from.reserve(kBytes);
  to.reserve(kBytes);
  std::memset(from.data(), 1, kBytes);
  const auto stream = device.make_stream();
  const auto before = device.make_event();
  const auto after = device.make_event();
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
    device.record(*before, *stream);
    device.copy_to_device(to.data(), from.data(), kBytes, *stream, false);
    device.record(*after, *stream);
    // The link may have been in a slower state before the first copies.
    if (pass + 1 == kPasses) peak.during = monitor.read();
    device.synchronize(*after);
    const double seconds = device.completion_seconds(*after) - device.completion_seconds(*before);
    if (seconds > 0) best = std::max(best, static_cast<double>(kBytes) / seconds);
  }
  if (best > 0) peak.gb_per_s = best / 1e9;
  return peak;
}

}  // namespace cachebisect

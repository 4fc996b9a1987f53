// How long the device works on one thing that is queued again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// Sums over the turns since reset().
struct DeviceTime {
  double busy_seconds = 0;  ///< on the device
  double cpu_seconds = 0;   ///< of the calling thread, where the device is the host; else 0
  std::uint64_t samples = 0;
};

/// Brackets each turn with two events of its stream and reads them when the device is past them,
/// so that nobody waits. One thread at a time.
class DeviceTimer {
 public:
  /// The device must have done turn i when turn i + `turns` begins.
  DeviceTimer(Device& device, std::size_t turns);

  /// Forgets what was measured; until the next reset() nothing is when not `observed`.
  void reset(bool observed);
  void begin(Stream& stream);
  void end(Stream& stream, std::int64_t samples);
  /// Of all turns, which the device must have done.
  [[nodiscard]] DeviceTime total();

 private:
  struct Turn {
    std::unique_ptr<Event> before;
    std::unique_ptr<Event> after;
    double queued = 0;  ///< on the host's clock
    bool pending = false;
  };

  void collect(Turn& turn);

  Device* device_;
  bool on_host_;
  std::vector<Turn> turns_;
  std::size_t next_ = 0;
  double cpu_began_ = 0;
  bool observed_ = false;
  DeviceTime sum_;
};

}  // namespace cachebisect

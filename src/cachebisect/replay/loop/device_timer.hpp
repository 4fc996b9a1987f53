// How long the device works on one thing that is queued again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/probe_clocks.hpp"
#include "cachebisect/base/sparse_turns.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// Of the turns since reset(); those not looked at are taken to be like those that were.
struct DeviceTime {
  double busy_seconds = 0;  ///< on the device
  double cpu_seconds = 0;   ///< of the calling thread, where the device is the host; else 0
  std::uint64_t samples = 0;
};

/// Brackets some turns with two events of their stream and reads them when the device is past
/// them, so that nobody waits: as many turns as cost the calling thread no more than a twentieth of
/// a percent of its time. One thread at a time.
class CACHEBISECT_API DeviceTimer {
 public:
  /// The device must have done turn i when turn i + `turns` begins.
  DeviceTimer(Device& device, std::size_t turns, const ProbeClocks& clocks = {});

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
    double weight = 0;  ///< turns that it stands for
    bool pending = false;
  };

  void collect(Turn& turn);
  void choose_next(double spent);

  Device* device_;
  ProbeClocks clocks_;
  bool on_host_;
  std::vector<Turn> turns_;  ///< of those looked at
  std::size_t next_ = 0;
  bool observed_ = false;

  SparseTurns choice_;
  bool looking_ = false;
  double cost_ = 0;          ///< of a look, the least seen; 0: none yet
  double began_ = 0;         ///< when the first turn since reset() did
  double looked_ = 0;        ///< when the last one looked at began
  std::uint64_t begun_ = 0;  ///< turns since reset()

  double spent_ = 0;  ///< on this look so far
  double cpu_began_ = 0;
  double busy_sum_ = 0;  ///< weighted, as are the next two
  double cpu_sum_ = 0;
  double sample_sum_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace cachebisect

// Measures how long the device works on a task that is queued repeatedly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/probe_clocks.hpp"
#include "cachebisect/base/sparse_turns.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// The time of all turns since reset(), estimated from those that were measured.
struct DeviceTime {
  double busy_seconds = 0;  ///< on the device
  double cpu_seconds = 0;   ///< of the calling thread if the device is the host; else 0
  std::uint64_t samples = 0;
};

/// Brackets some turns with two events of their stream and reads the events once they have
/// happened, without waiting. Measures as many turns as cost the calling thread at most 0.05% of
/// its time. One thread at a time.
class CACHEBISECT_INTERNAL_API DeviceTimer {
 public:
  /// The device must have completed turn i when turn i + `turns` begins.
  DeviceTimer(Device& device, std::size_t turns, const ProbeClocks& clocks = {});

  /// Forgets all measurements; measures until the next reset() if `observed`.
  void reset(bool observed);
  void begin(Stream& stream);
  void end(Stream& stream, std::int64_t samples);
  /// The time of all turns, which the device must have completed.
  [[nodiscard]] DeviceTime total();

 private:
  struct Turn {
    std::unique_ptr<Event> before;
    std::unique_ptr<Event> after;
    double queued = 0;  ///< on the host's clock
    double weight = 0;  ///< number of turns that it represents
    bool pending = false;
  };

  void collect(Turn& turn);
  void choose_next(double spent);

  Device* device_;
  ProbeClocks clocks_;
  bool on_host_;
  bool host_clock_;          ///< events happen on the host's clock
  std::vector<Turn> turns_;  ///< the measured ones
  std::size_t next_ = 0;
  bool observed_ = false;

  SparseTurns choice_;
  bool measuring_ = false;
  double cost_ = 0;          ///< minimum cost of a measurement; 0: none yet
  double began_ = 0;         ///< start of the first turn since reset()
  double measured_ = 0;      ///< start of the last measured turn
  std::uint64_t begun_ = 0;  ///< turns since reset()

  double spent_ = 0;  ///< on this measurement so far
  double cpu_began_ = 0;
  double busy_sum_ = 0;  ///< weighted, as are the next two
  double cpu_sum_ = 0;
  double sample_sum_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace cachebisect

// When the device had nothing to do, and what happened meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/profile/cycle.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect::profile {

/// Seconds.
struct IdleTime {
  double total = 0;     ///< of the cycles
  double copying = 0;   ///< idle while a batch was copied
  double loading = 0;   ///< else, while the training thread waited for a batch or loaded one
  double queueing = 0;  ///< else: the next step was not queued early enough
  [[nodiscard]] double idle() const noexcept { return loading + copying + queueing; }
};

/// The idle time in all cycles. The device is busy in its steps: on the cpu in those of the
/// training thread, on CUDA in the kernels of LibTorch's trace. Empty if nothing tells when it was.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<IdleTime> idle_time(
    const std::vector<Cycle>& cycles, DeviceKind device);
/// In words, for the findings.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string idle_text(const IdleTime& idle,
                                                             DeviceKind device);

}  // namespace cachebisect::profile

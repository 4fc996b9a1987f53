// What it changes to run the last stages of samples on the device, for a whole batch.
#pragma once

#include <cstddef>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

inline constexpr double kBytesOfFloat = 0.25;  ///< a byte, of those of a float32

/// Both ends of what the change may give. The sample stages from `first` (0-based) on are free, as
/// the device takes next to no time for them.
struct DeviceChanges {
  CostChanges likely;  ///< what carries batches to the device costs by the byte
  CostChanges least;   ///< it costs the same for fewer bytes
};
[[nodiscard]] CACHEBISECT_INTERNAL_API DeviceChanges on_device_from(const ChainDescription& chain,
                                                                    std::size_t first);

}  // namespace cachebisect

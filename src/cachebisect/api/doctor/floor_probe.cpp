#include "cachebisect/api/doctor/floor_probe.hpp"

#include "cachebisect/replay/tool_cost.hpp"

namespace cachebisect {

ToolFloor measure_floor(Device& device, double seconds, const std::stop_token& stop) {
  constexpr std::size_t sample_stages = 4;
  const ToolCost cost = measure_inline_cost(device, sample_stages, seconds, stop);
  return {.ns_per_sample = cost.seconds_per_sample * 1e9,
          .us_per_batch = cost.seconds_per_batch * 1e6};
}

}  // namespace cachebisect

#include "cachebisect/shards/run_sizes.hpp"

#include <algorithm>
#include <thread>

namespace cachebisect::shards {
namespace {

constexpr double kRunBytes = 1 << 20;  ///< about what is read at once

}  // namespace

RunSizes run_sizes(std::uint64_t samples, std::uint64_t bytes, double buffer_bytes) noexcept {
  const double mean = std::max(1.0, static_cast<double>(bytes) / static_cast<double>(samples));
  RunSizes sizes;
  sizes.samples = static_cast<std::uint64_t>(std::clamp(kRunBytes / mean, 2.0, 1e6));
  const double run_bytes = mean * static_cast<double>(sizes.samples);
  // Half for the samples that are mixed now, half for those that threads are ahead with.
  sizes.mixed = static_cast<std::uint64_t>(std::max(1.0, buffer_bytes / run_bytes / 2));
  sizes.runs = (samples + sizes.samples - 1) / sizes.samples;
  const std::uint64_t wanted = 2 * sizes.mixed + std::thread::hardware_concurrency() + 1;
  sizes.slots = std::min(sizes.runs, wanted) + 1;
  return sizes;
}

}  // namespace cachebisect::shards

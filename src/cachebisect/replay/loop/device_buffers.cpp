#include "cachebisect/replay/loop/device_buffers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/executor/slot_memory.hpp"

namespace cachebisect {
namespace {

/// Bytes that a sample takes on the device, in all buffers together.
double buffer_bytes_per_sample(const Pipeline& pipeline, std::size_t copies) {
  const std::size_t copy = pipeline.copy_position();
  double bytes = static_cast<double>(copies) * batch_bytes_per_sample(pipeline, copy);
  for (std::size_t i = copy + 1; i < pipeline.stages().size(); ++i) {
    bytes += changed_bytes_per_sample(pipeline, i);
  }
  return bytes;
}

}  // namespace

void check_device_buffers(const Pipeline& pipeline, const Device& device, std::size_t copies) {
  const DeviceInfo& info = device.info();
  if (!info.free_bytes || !device.copies() || !pipeline.static_shapes()) return;
  const auto free = static_cast<double>(*info.free_bytes);
  const auto batch = static_cast<double>(pipeline.batch_size());
  const double per_sample = buffer_bytes_per_sample(pipeline, copies);
  if (batch * per_sample <= free) return;
  const double fitting = std::floor(free / per_sample);
  throw Error(
      ErrorKind::usage,
      "batches of " + format_count(static_cast<std::uint64_t>(batch)) + " samples take " +
          format_bytes(batch * per_sample) + " on " + info.name + " (" + format_count(copies) +
          " buffers for copies, one for each device stage), and " + format_bytes(free) +
          " of its memory was free; lower " +
          (fitting >= 1 ? "batch_size to " + format_count(static_cast<std::uint64_t>(fitting)) +
                              " or less, or "
                        : "") +
          "the prefetch of copy.device");
}

}  // namespace cachebisect

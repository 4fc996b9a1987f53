#include "bench/gpu/submission.hpp"

#include <memory>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"

namespace cachebisect::bench {
namespace {

constexpr int kCalls = 500;  // fits into the driver's queue
/// Work before what is timed: else the device waits for the host to queue it.
constexpr double kAheadSeconds = 200e-6;

void finish(Device& device, Event& event, Stream& stream) {
  device.record(event, stream);
  device.synchronize(event);
}

}  // namespace

SubmissionFigures submission_figures(Device& device) {
  const auto stream = device.make_stream();
  const auto event = device.make_event();
  Buffer memory(device.device_memory());
  const TensorView bytes = dense_view(memory.reserve(64), DType::uint8, {64});
  SubmissionFigures figures;
  for (int warm_up = 1; warm_up >= 0; --warm_up) {
    const double began = monotonic_seconds();
    for (int i = 0; i < kCalls; ++i) device.record(*event, *stream);
    const double recorded = monotonic_seconds();
    finish(device, *event, *stream);
    const double idle = monotonic_seconds();
    for (int i = 0; i < kCalls; ++i) device.ops().cast(bytes, bytes, *stream);
    const double queued = monotonic_seconds();
    finish(device, *event, *stream);
    const double done = monotonic_seconds();
    figures = {1e6 * (recorded - began) / kCalls, 1e6 * (queued - idle) / kCalls,
               1e6 * (done - idle) / kCalls};
  }
  return figures;
}

double inline_seconds(Device& device, double seconds, int turns) {
  const auto stream = device.make_stream();
  const auto event = device.make_event();
  DeviceTimer timer(device, static_cast<std::size_t>(turns));
  timer.reset(true);
  for (int turn = 0; turn < turns; ++turn) {
    device.enqueue_work(*stream, kAheadSeconds);
    timer.begin(*stream);
    device.enqueue_work(*stream, seconds);
    timer.end(*stream, 1);
    finish(device, *event, *stream);
  }
  return timer.total().busy_seconds / turns;
}

}  // namespace cachebisect::bench

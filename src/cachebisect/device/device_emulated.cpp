// An accelerator that only computes times: nothing runs, and the host sleeps until the time that
// was computed when the work was submitted.
#include <string>
#include <utility>

#include <sys/mman.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/device/emulated_timeline.hpp"
#include "cachebisect/device/op_checks.hpp"

namespace cachebisect {
namespace {

class EmulatedStream final : public Stream {
 public:
  explicit EmulatedStream(std::shared_ptr<EmulatedTimeline> empty) : timeline(std::move(empty)) {}

  enum class Transfer { none, begun, latency_paid };
  std::shared_ptr<EmulatedTimeline> timeline;
  Transfer transfer = Transfer::none;  ///< that the next copy belongs to
};

class EmulatedEvent final : public Event {
 public:
  double seconds = 0;
  std::shared_ptr<EmulatedTimeline> timeline;  ///< of the stream that it was recorded in
  std::uint64_t pieces = 0;                    ///< that were queued there
};

EmulatedStream& emulated(Stream& stream) { return dynamic_cast<EmulatedStream&>(stream); }

EmulatedTimeline& timeline_of(Stream& stream) { return *emulated(stream).timeline; }

/// Reserves addresses without memory: an access is stopped by the kernel.
class UntouchableMemory final : public MemoryResource {
 public:
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::device; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    void* data = mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
      throw Error(ErrorKind::device, "the emulated device has no addresses left for " +
                                         std::to_string(bytes) +
                                         " bytes; lower batch_size or --cache-device");
    }
    return static_cast<std::byte*>(data);
  }

  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    munmap(data, bytes == 0 ? 1 : bytes);
  }
};

/// Checks its arguments as a real device does, and does nothing.
class EmulatedOps final : public DeviceOps {
 public:
  void cast(const ConstTensorView& from, const TensorView& to, Stream& /*stream*/) override {
    op_checks::cast(from, to);
  }
  void affine(const ConstTensorView& from, const TensorView& to, std::span<const float> scale,
              std::span<const float> bias, std::size_t channel_axis, Stream& /*stream*/) override {
    op_checks::affine(from, to, scale, bias, channel_axis);
  }
  void one_hot(const ConstTensorView& labels, const TensorView& to, float /*on*/, float /*off*/,
               Stream& /*stream*/) override {
    op_checks::one_hot(labels, to);
  }
  void unpack_bits(const ConstTensorView& from, const TensorView& to, Stream& /*stream*/) override {
    op_checks::unpack_bits(from, to);
  }
  void unpack_nonzeros(const ConstTensorView& from, const TensorView& to,
                       Stream& /*stream*/) override {
    op_checks::unpack_nonzeros(from, to);
  }
  void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes,
           Stream& /*stream*/) override {
    op_checks::pad(from, to, shapes);
  }
  void transpose(const ConstTensorView& from, const TensorView& to,
                 std::span<const std::size_t> axes, Stream& /*stream*/) override {
    op_checks::transpose(from, to, axes);
  }
  void crop(const ConstTensorView& from, const TensorView& to, std::span<const ImageWindow> windows,
            std::size_t channel_axis, Stream& /*stream*/) override {
    op_checks::crop(from, to, windows.size(), channel_axis);
  }
  void adjust_color(const ConstTensorView& from, const TensorView& to,
                    std::span<const ColorChanges> changes, std::size_t channel_axis,
                    std::byte* /*sums*/, Stream& /*stream*/) override {
    op_checks::adjust_color(from, to, changes.size(), channel_axis);
  }
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedDeviceOptions& options)
      : options_(options), slots_(host_memory()), memory_(std::make_shared<UntouchableMemory>()) {
    info_.kind = DeviceKind::emulated;
    info_.name = "emulated";
    info_.copy_gb_per_s = options.copy_gb_per_s;
    info_.clock_falls = options.clock_drop > 0;
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool /*pinned*/) override {
    return slots_;
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return memory_; }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] bool launching_costs() const noexcept override { return options_.launch_us > 0; }
  [[nodiscard]] bool has_data() const noexcept override { return false; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<EmulatedStream>(empty_timeline());
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<EmulatedEvent>();
  }

  void begin_transfer(Stream& stream) override {
    emulated(stream).transfer = EmulatedStream::Transfer::begun;
  }

  void copy_to_device(std::byte* /*to*/, const std::byte* /*from*/, std::size_t bytes,
                      Stream& stream, bool blocking) override {
    EmulatedTimeline& timeline = timeline_of(stream);
    const double now = monotonic_seconds();
    timeline.add_copy(now, latency_seconds(emulated(stream)) +
                               static_cast<double>(bytes) / (options_.copy_gb_per_s * 1e9));
    if (!blocking) return;
    sleep_until(timeline.mark(now));
    timeline.drained_to(timeline.queued());
  }

  void record(Event& event, Stream& stream) override {
    auto& marked = dynamic_cast<EmulatedEvent&>(event);
    emulated(stream).transfer = EmulatedStream::Transfer::none;
    marked.timeline = emulated(stream).timeline;
    finish_launching(*marked.timeline);
    marked.seconds = marked.timeline->mark(monotonic_seconds());
    marked.pieces = marked.timeline->queued();
  }

  void wait(Stream& stream, const Event& event) override {
    timeline_of(stream).wait_until(dynamic_cast<const EmulatedEvent&>(event).seconds);
  }

  void synchronize(const Event& event) override {
    const auto& marked = dynamic_cast<const EmulatedEvent&>(event);
    sleep_until(marked.seconds);
    if (marked.timeline) marked.timeline->drained_to(marked.pieces);
  }

  [[nodiscard]] bool synchronize_for(const Event& event, double seconds) override {
    const auto& marked = dynamic_cast<const EmulatedEvent&>(event);
    const double now = monotonic_seconds();
    if (marked.seconds - now > seconds) {
      if (seconds > 0) sleep_until(now + seconds);
      return false;
    }
    if (marked.seconds > now) sleep_until(marked.seconds);
    if (marked.timeline) marked.timeline->drained_to(marked.pieces);
    return true;
  }

  [[nodiscard]] double completion_seconds(const Event& event) override {
    return dynamic_cast<const EmulatedEvent&>(event).seconds;
  }

  void abandon(Stream& stream) override {
    emulated(stream).timeline = empty_timeline();
    emulated(stream).transfer = EmulatedStream::Transfer::none;
  }

  void enqueue_work(Stream& stream, double seconds) override {
    timeline_of(stream).add_work(monotonic_seconds(), seconds);
  }

  [[nodiscard]] DeviceOps& ops() override { return ops_; }

 private:
  /// Latency of the next copy on `stream`: paid only by the first copy of a transfer.
  [[nodiscard]] double latency_seconds(EmulatedStream& stream) const noexcept {
    using Transfer = EmulatedStream::Transfer;
    if (stream.transfer == Transfer::latency_paid) return 0;
    if (stream.transfer == Transfer::begun) stream.transfer = Transfer::latency_paid;
    return options_.copy_latency_us * 1e-6;
  }

  [[nodiscard]] std::shared_ptr<EmulatedTimeline> empty_timeline() const {
    return std::make_shared<EmulatedTimeline>(
        EmulatedClock(options_.clock_drop),
        LaunchQueue(options_.launch_us * 1e-6, static_cast<std::size_t>(options_.launch_queue)));
  }

  /// The host is held until it has launched what was submitted: not at each launch, because many of
  /// them are shorter than a sleep can be.
  static void finish_launching(EmulatedTimeline& timeline) {
    LaunchQueue& launches = timeline.launches();
    const double now = monotonic_seconds();
    if (launches.free_at() > now) sleep_until(launches.free_at());
    launches.went_on(now, monotonic_seconds());
  }

  EmulatedDeviceOptions options_;
  DeviceInfo info_;
  std::shared_ptr<MemoryResource> slots_;
  std::shared_ptr<MemoryResource> memory_;
  EmulatedOps ops_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options) {
  if (!(options.copy_gb_per_s > 0) || !(options.copy_latency_us >= 0)) {
    throw Error(ErrorKind::usage,
                "emulate: copy_gb_per_s must be above 0 and copy_latency_us at least 0");
  }
  if (!(options.clock_drop >= 0 && options.clock_drop < 1) || !(options.launch_us >= 0) ||
      options.launch_queue < 1) {
    throw Error(ErrorKind::usage,
                "emulate: clock_drop must be at least 0 and below 1, launch_us at least 0 and "
                "launch_queue at least 1");
  }
  return std::make_unique<EmulatedDevice>(options);
}

}  // namespace cachebisect

// Devices behind one interface: cpu, emulated, cuda. Streams, events, copies and completion times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/tensor_view.hpp"
#include "cachebisect/protocol/device_facts.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect {

class DeviceOps;

/// A queue of work that a device executes in order. Made by a Device and used only with it.
class CACHEBISECT_API Stream {
 public:
  virtual ~Stream();
  /// cudaStream_t on CUDA, null elsewhere.
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }
};

/// A marker in a stream. Made by a Device and used only with it.
class CACHEBISECT_API Event {
 public:
  virtual ~Event();
};

struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  int ordinal = 0;
  std::string name;                           ///< "NVIDIA H200", "CPU", "emulated"
  std::optional<std::uint64_t> memory_bytes;  ///< of the device; empty on cpu and emulated
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::uint64_t> l2_bytes;  ///< second-level cache of the device
  std::optional<double> copy_gb_per_s;    ///< known only if it is configured (emulated)
  bool clock_falls = false;               ///< under load; known only if it is configured (emulated)
  DeviceFacts facts;                      ///< what the device itself tells (CUDA)
};

/// Times are seconds on the host's monotonic clock; on CUDA on the device's own, so that only their
/// differences count. Methods may be called from several threads, one stream from one at a time.
class CACHEBISECT_API Device {
 public:
  virtual ~Device();
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
  [[nodiscard]] DeviceKind kind() const noexcept { return info().kind; }

  /// Memory for batch slots: page-locked if `pinned` and the device is CUDA, else plain.
  [[nodiscard]] virtual std::shared_ptr<MemoryResource> slot_memory(bool pinned) = 0;
  /// Memory of the device. cpu: plain host memory. emulated: addresses that must not be accessed.
  [[nodiscard]] virtual std::shared_ptr<MemoryResource> device_memory() = 0;
  /// False on the cpu, where a slot is handed over as it is.
  [[nodiscard]] virtual bool copies() const noexcept = 0;
  /// True if launching a step takes the host's time, so that the device may wait for it: on CUDA,
  /// and on the emulated device if it is told so.
  [[nodiscard]] virtual bool launching_costs() const noexcept;
  /// False on the emulated device: batches there have shapes, but no bytes.
  [[nodiscard]] virtual bool has_data() const noexcept = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  /// The stream of training steps and device stages, made at the first call. All loops of the
  /// device share it, because LibTorch keeps a pool of memory per stream. Used by the training
  /// thread.
  [[nodiscard]] Stream& compute_stream();
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// An event that keeps the core of a thread that waits for it busy, as PyTorch's waits for CUDA
  /// do. On other devices an event of make_event().
  [[nodiscard]] virtual std::unique_ptr<Event> make_spinning_event() { return make_event(); }
  /// Where work goes that names no stream: the legacy default stream on CUDA, with which streams of
  /// make_stream() do not synchronise. Null on other devices.
  [[nodiscard]] virtual Stream* default_stream() noexcept { return nullptr; }
  /// All copies on `stream` from here to the next record() are one transfer, for which the emulated
  /// device pays its latency once. Does nothing on other devices.
  virtual void begin_transfer(Stream& stream);
  /// Enqueues a copy from host to device memory; with `blocking` returns when it is done. `from`
  /// may be changed once the copy is done. On CUDA, a copy from pageable memory holds the calling
  /// thread even if it is not blocking, because the driver copies it to memory of its own first.
  virtual void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes,
                              Stream& stream, bool blocking) = 0;
  /// Puts `event` at the present end of `stream`.
  virtual void record(Event& event, Stream& stream) = 0;
  /// Makes `stream` wait for `event` (on the device; the host continues).
  virtual void wait(Stream& stream, const Event& event) = 0;
  /// Blocks the calling thread until the event has happened, without burning CPU unless the event
  /// spins.
  virtual void synchronize(const Event& event) = 0;
  /// As synchronize(), but gives up after `seconds` (0: only checks); true if the event has
  /// happened. A device that cannot wait for a limited time waits until the event.
  [[nodiscard]] virtual bool synchronize_for(const Event& event, double seconds);
  /// When the recorded event happened; call after synchronize(). On the emulated device it is known
  /// as soon as the event is recorded.
  [[nodiscard]] virtual double completion_seconds(const Event& event) = 0;
  /// After an error: waits until what is queued on `stream` is done. The emulated device forgets
  /// it.
  virtual void abandon(Stream& stream);
  /// Adds `seconds` of work to the stream: on the emulated device to its timeline, on CUDA a kernel
  /// that is busy for that long by the device's own timer. The cpu throws Error(internal).
  virtual void enqueue_work(Stream& stream, double seconds);

  [[nodiscard]] virtual DeviceOps& ops() = 0;
  /// Throws Error(device) if the device has failed and runs nothing any more.
  virtual void throw_if_failed() {}
  /// Bytes of device_memory() in use; 0 on devices that do not count them.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }
  /// Frees memory that is kept only because freeing it stalls the device, after the work on the
  /// device; true if there was any.
  virtual bool free_unused() { return false; }
  /// While the result lives, device_memory() calls `release` in the allocating thread when it finds
  /// no room, and then tries once more: `release` frees memory of the device that a library keeps
  /// for later. Null, without such calls, on devices that are the host or hold no bytes.
  [[nodiscard]] virtual std::shared_ptr<const void> when_out_of_memory(
      const std::function<void()>& release);
  /// A checksum of the bytes of each tensor, which is dense and in device memory, after the work
  /// queued on compute_stream(); waits for it. Empty on devices whose memory the host reads itself
  /// (cpu), or that have no bytes (emulated).
  [[nodiscard]] virtual std::vector<std::uint64_t> checksums(
      std::span<const ConstTensorView> tensors);

 private:
  std::unique_ptr<Stream> compute_;
};

/// Copies, clock and launches of the emulated accelerator (`emulate` in the pipeline file).
struct EmulatedDeviceOptions {
  double copy_gb_per_s = 12;
  double copy_latency_us = 10;
  double clock_drop = 0;    ///< share by which the clock falls at full load of the last 100 ms
  double launch_us = 0;     ///< of the host, per enqueue_work()
  int launch_queue = 1024;  ///< launches that may wait to run: more of them block the host
};

CACHEBISECT_API std::unique_ptr<Device> make_cpu_device();
/// An accelerator on its own timeline, computed at submission: a copy starts at max(submission, end
/// of the queued work, awaited events), work at the maximum of the latter two; once the host has
/// seen the stream empty, work too starts no earlier than its submission. What the host launched by
/// enqueue_work() takes its time at the next record() of the stream, which blocks the host. Throws
/// Error(usage) for options out of range.
CACHEBISECT_API std::unique_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options);
/// Throws Error(device) saying what was found if there is no such CUDA device or no driver, or if
/// this build has no CUDA.
CACHEBISECT_API std::unique_ptr<Device> make_cuda_device(int ordinal);
/// Number of usable CUDA devices; 0 without a driver or without CUDA in the build. Never throws.
CACHEBISECT_API int cuda_device_count() noexcept;
/// True if device/cuda was compiled in.
CACHEBISECT_API bool built_with_cuda() noexcept;

}  // namespace cachebisect

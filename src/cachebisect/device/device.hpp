// Devices behind one interface: cpu, emulated, cuda. Streams, events, copies and completion times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/tensor_view.hpp"
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
};

/// All times are seconds on the host's monotonic clock. Methods may be called from several threads,
/// one stream from one thread at a time.
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
  /// False on the emulated device: batches there have shapes, but no bytes.
  [[nodiscard]] virtual bool has_data() const noexcept = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// All copies on `stream` from here to the next record() are one transfer, for which the emulated
  /// device pays its latency once. Does nothing on other devices.
  virtual void begin_transfer(Stream& stream);
  /// Enqueues a copy from host to device memory; with `blocking` returns when it is done. `from`
  /// may be changed once the copy is done.
  virtual void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes,
                              Stream& stream, bool blocking) = 0;
  /// Puts `event` at the present end of `stream`.
  virtual void record(Event& event, Stream& stream) = 0;
  /// Makes `stream` wait for `event` (on the device; the host continues).
  virtual void wait(Stream& stream, const Event& event) = 0;
  /// Blocks the calling thread, without burning CPU, until the event has happened.
  virtual void synchronize(const Event& event) = 0;
  /// As synchronize(), but gives up after `seconds` (0: only checks); true if the event has
  /// happened. A device that cannot wait for a limited time waits until the event.
  [[nodiscard]] virtual bool synchronize_for(const Event& event, double seconds);
  /// When the recorded event happened; call after synchronize(). On the emulated device it is known
  /// as soon as the event is recorded.
  [[nodiscard]] virtual double completion_seconds(const Event& event) = 0;
  /// Adds `seconds` of work to the stream's timeline. Emulated device only; others throw
  /// Error(internal).
  virtual void enqueue_work(Stream& stream, double seconds);

  [[nodiscard]] virtual DeviceOps& ops() = 0;
};

/// The copy engine of the emulated accelerator (`emulate` in the pipeline file).
struct EmulatedDeviceOptions {
  double copy_gb_per_s = 12;
  double copy_latency_us = 10;
};

CACHEBISECT_API std::unique_ptr<Device> make_cpu_device();
/// An accelerator on its own timeline, computed at submission: a copy starts at max(submission, end
/// of the queued work, awaited events), work at the maximum of the latter two; once the host has
/// seen the stream empty, work too starts no earlier than its submission. Throws Error(usage) for a
/// bandwidth that is not above 0 or a negative latency.
CACHEBISECT_API std::unique_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options);
/// Throws Error(device) saying what was found if there is no such CUDA device or no driver, or if
/// this build has no CUDA.
CACHEBISECT_API std::unique_ptr<Device> make_cuda_device(int ordinal);
/// Number of usable CUDA devices; 0 without a driver or without CUDA in the build. Never throws.
CACHEBISECT_API int cuda_device_count() noexcept;
/// True if device/cuda was compiled in.
CACHEBISECT_API bool built_with_cuda() noexcept;

}  // namespace cachebisect

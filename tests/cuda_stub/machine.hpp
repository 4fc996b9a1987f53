// The machine that the stub CUDA runtime finds: drivers, devices, failures, and what was done to
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

namespace cuda_stub {

struct MachineOptions {
  int devices = 1;
  int driver = CUDART_VERSION;  ///< newest CUDA version that the driver serves; 0: no driver
  std::size_t memory_bytes = std::size_t{64} << 20;  ///< of each device
  /// 0: nothing runs before a thread waits for it. Any other seed: in a random order of its own
  /// among those that events and streams allow, also before any thread waits.
  std::uint64_t schedule = 0;
  double copy_bytes_per_second = 1e10;
  double kernel_seconds = 1e-5;
  double clock_offset = 0;  ///< seconds of the devices' clocks ahead of the host's
  double clock_drift = 0;   ///< 20e-6: devices' clocks gain 20 us per second
  /// The host's clock is the monotonic one of this machine, for all of its threads: work ends when
  /// its time has passed, and waits take as long. Otherwise only pass() moves that clock.
  bool real_time = false;
};

/// A call that fails. The functions are those of the CUDA runtime, and "work" for a kernel or copy
/// when the device runs it.
struct Failure {
  std::string_view function;
  int call = 1;  ///< from now on: 1 is the next one
  cudaError_t error = cudaErrorLaunchFailure;
  /// The device is lost: it runs nothing any more, and every later call fails with this error.
  /// Failing work always loses it.
  bool sticky = false;
};

/// The only one while it lives; without one there is no driver. Threads that use CUDA must have
/// ended before it is destroyed.
class Machine {
 public:
  explicit Machine(const MachineOptions& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void fail(const Failure& failure);
  /// Seconds that the host does something else; calls take no time. Not in real time.
  void pass(double seconds);
  [[nodiscard]] double host_seconds() const;

  [[nodiscard]] int calls(std::string_view function) const;
  /// All calls so far, in the order of their functions' names.
  [[nodiscard]] std::vector<std::pair<std::string, int>> all_calls() const;
  /// Ordinals of the devices that hold a context of this process.
  [[nodiscard]] std::vector<int> contexts() const;
  /// Kernels and copies that have not run.
  [[nodiscard]] std::size_t queued() const;
  /// Calls of cudaFree that found the device at work.
  [[nodiscard]] int stalls() const;
  /// The memory node that the latest cudaHostAlloc preferred; empty: that of the calling thread.
  [[nodiscard]] std::optional<int> pinned_node() const;
  /// Waits for events that had not happened, by what the waiting thread does meanwhile.
  [[nodiscard]] int spins() const;
  [[nodiscard]] int sleeps() const;
  /// What breaks CUDA's rules, a line each, such as memory freed while a copy reads it.
  [[nodiscard]] std::vector<std::string> violations() const;
  /// What was made and not destroyed, a line each.
  [[nodiscard]] std::vector<std::string> leaks() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace cuda_stub

// What the functions of the stub runtime share: the machine's parts, and the frame of a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda_stub/device_arena.hpp"
#include "cuda_stub/failures.hpp"
#include "cuda_stub/machine.hpp"
#include "cuda_stub/queues.hpp"

namespace cuda_stub {

using Clock = std::chrono::steady_clock;

struct Machine::State {
  explicit State(const MachineOptions& machine);

  [[nodiscard]] double host_seconds() const;
  /// The devices' clock.
  [[nodiscard]] double device_seconds() const;
  /// True if the event is behind the present time.
  [[nodiscard]] bool happened(const Mark& mark) const;
  /// In real time, the call of this thread returns no earlier. `device_time`: on the devices'
  /// clock.
  void hold_until(double device_time) const;
  /// Seconds that the work took; empty if the device was lost by it.
  std::optional<double> run(const Entry& entry, int device);
  void violate(const std::string& what) { violations.push_back(what); }

  const MachineOptions options;
  const std::uint64_t number;  ///< of all machines so far
  const Clock::time_point made = Clock::now();
  double host = 0;  ///< seconds; not in real time
  /// Readings of the device's timer by the work that runs.
  std::int64_t timer_readings = 0;
  Failures failures;
  Queues queues;
  std::vector<std::unique_ptr<DeviceArena>> arenas;  ///< by device
  std::map<std::byte*, std::size_t> pinned;
  std::optional<int> pinned_node;  ///< of the latest allocation
  std::set<int> contexts;
  int stalls = 0;
  int spins = 0;
  int sleeps = 0;
  std::vector<std::string> violations;
};

/// What CUDA keeps by thread.
struct ThreadState {
  std::uint64_t machine = 0;
  int device = 0;
  cudaError_t last = cudaSuccess;
  Clock::time_point held_until{};  ///< that the present call returns no earlier
};

/// Guards the present machine, and everything in it.
std::mutex& mutex();
/// Null if there is none. Under the mutex.
Machine::State*& present();
/// The calling thread's, as new if the machine is another one than at its last call.
ThreadState& this_thread();

/// The stream of a handle; those of the legacy default stream are the one of the thread's device.
CUstream_st* stream_at(Machine::State& machine, cudaStream_t handle);

/// Whether a function needs a context, and so makes one on the thread's device. One that releases
/// does so even if it fails.
enum class Needs { driver, context, release };

/// api() with the mutex held.
template <class Body>
cudaError_t api_at_once(const char* function, Needs needs, ThreadState& thread, const Body& body) {
  Machine::State* machine = present();
  if (machine == nullptr || machine->options.driver < CUDART_VERSION) {
    return thread.last = cudaErrorInsufficientDriver;
  }
  if (machine->options.devices == 0) return thread.last = cudaErrorNoDevice;
  const cudaError_t failure = machine->failures.count(function);
  if (failure != cudaSuccess && needs != Needs::release) return thread.last = failure;
  if (needs != Needs::driver) machine->contexts.insert(thread.device);
  const cudaError_t own = body(*machine);
  const cudaError_t error = failure != cudaSuccess ? failure : own;
  if (error != cudaSuccess) thread.last = error;
  return error;
}

/// Runs one function of the runtime: counts it, lets it fail if it shall, else calls
/// body(Machine::State&), and keeps the error for cudaGetLastError(). In real time the thread is
/// held without the mutex for as long as the body says.
template <class Body>
cudaError_t api(const char* function, Needs needs, const Body& body) {
  cudaError_t error = cudaSuccess;
  Clock::time_point held_until;
  {
    const std::scoped_lock lock(mutex());
    ThreadState& thread = this_thread();
    thread.held_until = {};
    error = api_at_once(function, needs, thread, body);
    held_until = thread.held_until;
  }
  if (held_until > Clock::now()) std::this_thread::sleep_until(held_until);
  return error;
}

}  // namespace cuda_stub

// Streams, events and kernels of the stub runtime.
#include <memory>
#include <utility>

#include "cuda_stub/enqueue.hpp"
#include "cuda_stub/state.hpp"

using cuda_stub::Machine;
using cuda_stub::Needs;

namespace {

/// The stream can take work of the calling thread.
bool usable(Machine::State& machine, const CUstream_st* stream) {
  if (!stream->destroyed) return true;
  machine.violate("work on a stream that does not exist");
  return false;
}

bool usable(Machine::State& machine, const CUevent_st* event) {
  if (event != nullptr && !event->destroyed) return true;
  machine.violate("use of an event that does not exist");
  return false;
}

}  // namespace

namespace cuda_stub {

CUstream_st* stream_at(Machine::State& machine, cudaStream_t handle) {
  if (handle != nullptr && handle != cudaStreamLegacy) return handle;
  return machine.queues.default_stream(this_thread().device);
}

cudaError_t enqueue(cudaStream_t handle, std::function<void()> work) {
  return api("cudaLaunchKernel", Needs::context, [&](Machine::State& machine) {
    CUstream_st* const stream = stream_at(machine, handle);
    if (!usable(machine, stream)) return cudaErrorInvalidResourceHandle;
    if (stream->device != this_thread().device) return cudaErrorInvalidResourceHandle;
    Entry entry{.work = std::move(work), .seconds = machine.options.kernel_seconds};
    entry.submitted = machine.device_seconds();
    machine.queues.push(*stream, std::move(entry));
    return cudaSuccess;
  });
}

}  // namespace cuda_stub

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int /*flags*/) {
  return cuda_stub::api("cudaStreamCreateWithFlags", Needs::context, [&](Machine::State& machine) {
    *stream = machine.queues.make_stream(cuda_stub::this_thread().device);
    return cudaSuccess;
  });
}

// What is queued still runs.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return cuda_stub::api("cudaStreamDestroy", Needs::release, [&](Machine::State& machine) {
    if (!usable(machine, stream)) return cudaErrorInvalidResourceHandle;
    stream->destroyed = true;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return cuda_stub::api("cudaStreamQuery", Needs::context, [&](Machine::State& machine) {
    CUstream_st* const stream = cuda_stub::stream_at(machine, handle);
    if (!usable(machine, stream)) return cudaErrorInvalidResourceHandle;
    const bool is_past = !machine.options.real_time || stream->end <= machine.device_seconds();
    return stream->entries.empty() && is_past ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return cuda_stub::api("cudaStreamSynchronize", Needs::context, [&](Machine::State& machine) {
    CUstream_st* const stream = cuda_stub::stream_at(machine, handle);
    if (!usable(machine, stream)) return cudaErrorInvalidResourceHandle;
    const bool alive = machine.queues.finish(*stream);
    machine.hold_until(stream->end);
    return alive ? cudaSuccess : machine.failures.lost();
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int /*flags*/) {
  return cuda_stub::api("cudaStreamWaitEvent", Needs::context, [&](Machine::State& machine) {
    CUstream_st* const stream = cuda_stub::stream_at(machine, handle);
    if (!usable(machine, stream) || !usable(machine, event)) return cudaErrorInvalidResourceHandle;
    if (event->mark == nullptr) return cudaSuccess;
    machine.queues.push(*stream, {.submitted = machine.device_seconds(), .waits_for = event->mark});
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return cuda_stub::api("cudaEventCreateWithFlags", Needs::context, [&](Machine::State& machine) {
    *event = machine.queues.make_event(cuda_stub::this_thread().device,
                                       (flags & cudaEventBlockingSync) == 0);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return cuda_stub::api("cudaEventDestroy", Needs::release, [&](Machine::State& machine) {
    if (!usable(machine, event)) return cudaErrorInvalidResourceHandle;
    event->destroyed = true;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return cuda_stub::api("cudaEventRecord", Needs::context, [&](Machine::State& machine) {
    CUstream_st* const stream = cuda_stub::stream_at(machine, handle);
    if (!usable(machine, stream) || !usable(machine, event)) return cudaErrorInvalidResourceHandle;
    if (event->device != stream->device) return cudaErrorInvalidResourceHandle;
    event->mark = std::make_shared<cuda_stub::Mark>();
    event->mark->stream = stream;
    machine.queues.push(*stream, {.submitted = machine.device_seconds(), .records = event->mark});
    return cudaSuccess;
  });
}

// The device gets a little further between two queries, else a loop of them would never end.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cuda_stub::api("cudaEventQuery", Needs::context, [&](Machine::State& machine) {
    if (!usable(machine, event)) return cudaErrorInvalidResourceHandle;
    if (event->mark == nullptr || machine.happened(*event->mark)) return cudaSuccess;
    if (machine.options.real_time && machine.queues.finish(*event->mark)) {
      return machine.happened(*event->mark) ? cudaSuccess : cudaErrorNotReady;
    }
    machine.queues.advance_towards(*event->mark);
    const cudaError_t lost = machine.failures.lost();
    return lost != cudaSuccess ? lost : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return cuda_stub::api("cudaEventSynchronize", Needs::context, [&](Machine::State& machine) {
    if (!usable(machine, event)) return cudaErrorInvalidResourceHandle;
    if (event->mark == nullptr || machine.happened(*event->mark)) return cudaSuccess;
    ++(event->spins ? machine.spins : machine.sleeps);
    const bool alive = machine.queues.finish(*event->mark);
    machine.hold_until(event->mark->seconds);
    return alive ? cudaSuccess : machine.failures.lost();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cuda_stub::api("cudaEventElapsedTime", Needs::context, [&](Machine::State& machine) {
    if (!usable(machine, from) || !usable(machine, to)) return cudaErrorInvalidResourceHandle;
    if (!from->mark || !to->mark || from->device != to->device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!machine.happened(*from->mark) || !machine.happened(*to->mark)) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(1e3 * (to->mark->seconds - from->mark->seconds));
    return cudaSuccess;
  });
}

}  // extern "C"

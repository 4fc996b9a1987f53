// Memory and copies of the stub runtime.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "cuda_stub/state.hpp"
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

using cuda_stub::Machine;
using cuda_stub::Needs;

namespace {

constexpr std::align_val_t kPage{4096};
constexpr int kPoison = 0xBD;

std::byte* bytes_at(void* data) { return static_cast<std::byte*>(data); }

cuda_stub::DeviceArena* arena_of(Machine::State& machine, const void* data) {
  for (const auto& arena : machine.arenas) {
    if (arena->owns(data)) return arena.get();
  }
  return nullptr;
}

bool is_pinned(const Machine::State& machine, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  return std::any_of(machine.pinned.begin(), machine.pinned.end(), [&](const auto& block) {
    return at >= block.first && at + bytes <= block.first + block.second;
  });
}

/// The memory node that the calling thread has chosen; empty if it has not, or the kernel refuses.
std::optional<int> preferred_node() {
  int mode = MPOL_DEFAULT;
  std::array<unsigned long, 16> nodes{};
  if (syscall(SYS_get_mempolicy, &mode, nodes.data(), 1024, nullptr, 0UL) != 0) return std::nullopt;
  if (mode != MPOL_PREFERRED) return std::nullopt;
  return nodes[0] == 0 ? std::nullopt : std::optional(std::countr_zero(nodes[0]));
}

/// Memory that a copy names is a live allocation of some device, or the host's.
bool valid(Machine::State& machine, const void* data, std::size_t bytes) {
  const cuda_stub::DeviceArena* arena = arena_of(machine, data);
  if (arena == nullptr || arena->holds(data, bytes)) return true;
  machine.violate("a copy beyond what cudaMalloc gave");
  return false;
}

/// The copy reads page-locked memory when it runs, other memory of the host at once.
cuda_stub::Entry copy_entry(const Machine::State& machine, void* to, const void* from,
                            std::size_t bytes, bool from_device) {
  cuda_stub::Entry entry;
  entry.seconds = static_cast<double>(bytes) / machine.options.copy_bytes_per_second;
  if (from_device || is_pinned(machine, from, bytes)) {
    entry.work = [=] { std::memcpy(to, from, bytes); };
    entry.reads = from;
    entry.read_bytes = bytes;
  } else {
    const auto* begin = static_cast<const std::byte*>(from);
    entry.work = [to, staged = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    };
  }
  return entry;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return cuda_stub::api("cudaMalloc", Needs::context, [&](Machine::State& machine) {
    const auto device = static_cast<std::size_t>(cuda_stub::this_thread().device);
    *data = machine.arenas[device]->allocate(bytes);
    return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

// Waits for the device, as the real one does.
cudaError_t cudaFree(void* data) {
  return cuda_stub::api("cudaFree", Needs::release, [&](Machine::State& machine) {
    if (data == nullptr) return cudaSuccess;
    for (std::size_t device = 0; device < machine.arenas.size(); ++device) {
      if (!machine.arenas[device]->owns(data)) continue;
      const int ordinal = static_cast<int>(device);
      if (machine.queues.queued(ordinal) > 0) ++machine.stalls;
      const bool alive = machine.queues.finish_device(ordinal);
      machine.hold_until(machine.queues.device_end(ordinal));
      if (!machine.arenas[device]->free(bytes_at(data))) break;
      return alive ? cudaSuccess : machine.failures.lost();
    }
    machine.violate("cudaFree of memory that is not allocated");
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned int /*flags*/) {
  return cuda_stub::api("cudaHostAlloc", Needs::context, [&](Machine::State& machine) {
    *data = ::operator new(bytes, kPage, std::nothrow);
    if (*data == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*data, kPoison, bytes);
    machine.pinned_node = preferred_node();
    machine.pinned.emplace(bytes_at(*data), bytes);
    return cudaSuccess;
  });
}

// Does not wait for the device: nothing promises that it does.
cudaError_t cudaFreeHost(void* data) {
  return cuda_stub::api("cudaFreeHost", Needs::release, [&](Machine::State& machine) {
    const auto found = machine.pinned.find(bytes_at(data));
    if (found == machine.pinned.end()) {
      machine.violate("cudaFreeHost of memory that is not allocated");
      return cudaErrorInvalidValue;
    }
    if (machine.queues.reads(data, found->second)) {
      machine.violate("cudaFreeHost of memory that a queued copy reads");
      (void)machine.queues.finish_device(cuda_stub::this_thread().device);
    }
    machine.pinned.erase(found);
    ::operator delete(data, kPage);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return cuda_stub::api("cudaMemGetInfo", Needs::context, [&](Machine::State& machine) {
    const auto& arena = *machine.arenas[static_cast<std::size_t>(cuda_stub::this_thread().device)];
    *total_bytes = arena.bytes();
    *free_bytes = arena.bytes() - arena.used();
    return cudaSuccess;
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return cuda_stub::api("cudaMemsetAsync", Needs::context, [&](Machine::State& machine) {
    if (arena_of(machine, to) == nullptr || !valid(machine, to, bytes)) {
      return cudaErrorInvalidValue;
    }
    cuda_stub::Entry entry{.work = [=] { std::memset(to, value, bytes); }};
    entry.submitted = machine.device_seconds();
    machine.queues.push(*cuda_stub::stream_at(machine, stream), std::move(entry));
    return cudaSuccess;
  });
}

// A copy to memory of the host that is not page-locked is done when the call returns.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return cuda_stub::api("cudaMemcpyAsync", Needs::context, [&](Machine::State& machine) {
    const bool from_device = arena_of(machine, from) != nullptr;
    const bool to_device = arena_of(machine, to) != nullptr;
    if (kind == cudaMemcpyHostToDevice && (from_device || !to_device)) return cudaErrorInvalidValue;
    if (!valid(machine, from, bytes) || !valid(machine, to, bytes)) return cudaErrorInvalidValue;
    cuda_stub::Entry entry = copy_entry(machine, to, from, bytes, from_device);
    entry.submitted = machine.device_seconds();
    CUstream_st& queue = *cuda_stub::stream_at(machine, stream);
    machine.queues.push(queue, std::move(entry));
    if (to_device || is_pinned(machine, to, bytes)) return cudaSuccess;
    const bool alive = machine.queues.finish(queue);
    machine.hold_until(queue.end);
    return alive ? cudaSuccess : machine.failures.lost();
  });
}

}  // extern "C"

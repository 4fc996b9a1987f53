#include "cachebisect/doctor/bandwidth_probe.hpp"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/replay/loop/copy_peak.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{64} << 20U;
constexpr int kPasses = 6;

void check(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
}

/// The size of each of a thread's two buffers; together they take at most an eighth of the
/// available memory.
std::size_t buffer_bytes(int threads, const MachineInfo& machine) {
  constexpr double kMin = 1 << 20;
  constexpr auto kMax = static_cast<double>(kCopyBytes);
  return static_cast<std::size_t>(
      std::clamp(machine.memory_available_bytes / 16 / threads, kMin, kMax));
}

}  // namespace

double memory_gb_per_s(int threads, const MachineInfo& machine, const std::stop_token& stop) {
  const std::size_t bytes = buffer_bytes(threads, machine);
  std::vector<Buffer> buffers(2 * static_cast<std::size_t>(threads));
  for (Buffer& buffer : buffers) buffer.reserve(bytes);
  check(stop);
  // All threads start and end a pass together, so a pass takes as long as the slowest thread.
  std::vector<double> marks;
  marks.reserve(kPasses + 2);
  std::barrier together(threads, [&]() noexcept { marks.push_back(monotonic_seconds()); });
  const auto work = [&](std::size_t thread) {
    Buffer& from = buffers[2 * thread];
    Buffer& to = buffers[2 * thread + 1];
    std::memset(from.data(), 1, bytes);
    std::memset(to.data(), 0, bytes);
    together.arrive_and_wait();
    for (int pass = 0; pass < kPasses; ++pass) {
      std::memcpy(to.data(), from.data(), bytes);
      together.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i) helpers.emplace_back(work, static_cast<std::size_t>(i));
    work(0);
  }
  double best = 0;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    best = std::max(best, 2.0 * threads * static_cast<double>(bytes) / (marks[i] - marks[i - 1]));
  }
  return best / 1e9;
}

std::optional<double> copy_gb_per_s(Device& device, const std::stop_token& stop) {
  return measure_copy_peak(device, DeviceMonitor("", ""), stop).gb_per_s;
}

}  // namespace cachebisect

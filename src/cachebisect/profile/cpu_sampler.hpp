// Where the threads of this process spend their CPU time, by samples of their call stacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/types.h>

#include "cachebisect/base/export.hpp"

namespace cachebisect::profile {

/// A thread was running this.
struct CpuSample {
  static constexpr std::size_t kMaxFrames = 24;
  double seconds = 0;  ///< of the monotonic clock
  pid_t thread = 0;
  std::uint32_t periods = 1;  ///< that it stands for: the system's clock may tick more slowly
  std::uint32_t depth = 0;
  std::array<void*, kMaxFrames> frames{};  ///< innermost first
};

/// Interrupts each thread once per period of its own CPU time, by SIGPROF; a thread that waits is
/// not sampled. Taking a sample neither allocates nor locks. One at a time in a process; used by
/// one thread.
class CACHEBISECT_INTERNAL_API CpuSampler {
 public:
  /// `capacity`: samples; more are counted and dropped.
  CpuSampler(std::size_t capacity, double period_seconds);
  ~CpuSampler();
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;

  /// Forgets all samples, and samples the threads that there are now. Threads for which the system
  /// has no timer are left out.
  void start();
  void stop() noexcept;

  [[nodiscard]] double period() const noexcept { return period_; }
  /// After stop().
  [[nodiscard]] std::span<const CpuSample> samples() const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  double period_;
};

}  // namespace cachebisect::profile

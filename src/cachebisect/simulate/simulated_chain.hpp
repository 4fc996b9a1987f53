// A planted chain for virtual time: what each stage costs, and the machine it runs on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cachebisect/base/jitter.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// How a simulated stage spends its time.
enum class CostKind {
  cpu,      ///< on a core
  wait,     ///< asleep
  lock,     ///< in a serial section of the stage's own, in order of arrival
  memory,   ///< on a core, with the memory bandwidth to itself, in order of arrival
  payload,  ///< free; changes the bytes of the sample, which the copy pays for
};
CACHEBISECT_INTERNAL_API const char* to_string(CostKind kind) noexcept;

struct SimulatedStage {
  std::string name{};
  Category category = Category::synthetic;
  CostKind kind = CostKind::cpu;
  double seconds = 0;  ///< per sample, mean
  double bytes = 0;    ///< payload: per sample, from here on
  Jitter jitter{};
  /// Multiplies `seconds` for a sample of the data set, in place of `jitter`; mean 1. Must be
  /// thread safe and depend on the index alone. Empty: `jitter` applies.
  std::function<double(std::uint64_t index)> factor{};
  double seen_factor = 1;       ///< multiplies its cost for a sample that it has had before
  double contended_factor = 1;  ///< multiplies its cost while the stage before it runs too
};

/// Sample stages, the first of which is the source; the simulation adds collate and copy.
struct CACHEBISECT_INTERNAL_API SimulatedChain {
  std::vector<SimulatedStage> stages;
  std::int64_t batch_size = 8;
  int workers = 2;  ///< 0: the training thread loads
  LoaderKind loader = LoaderKind::sample;
  int ring_prefetch = 2;
  int cores = 2;
  double step_seconds = 1e-3;  ///< of the device, per step
  int step_period = 1;         ///< batches per optimizer step, as ChainDescription's
  double update_seconds = 0;   ///< of the device, added to the last step of a period
  double trainer_seconds = 0;  ///< of the training thread on a core, per step
  double source_bytes = 0;     ///< per sample, before any payload stage
  double copy_bytes_per_second = 12e9;
  double copy_latency_seconds = 0;  ///< per batch
  int copy_prefetch = 2;            ///< 0: on the compute stream
  bool copy_non_blocking = true;
  double collate_seconds = 0;   ///< per sample, on the core of the worker that completes the batch
  double serve_seconds = 0;     ///< per sample served from a host boundary's cache
  bool device_is_host = false;  ///< the cpu device: no copy, the step is trainer_seconds
  std::uint64_t samples = 100000;  ///< in the data set

  [[nodiscard]] int boundaries() const noexcept { return static_cast<int>(stages.size()) + 2; }
  /// The boundary after collate: batches on the host. The one at boundaries() is on the device.
  [[nodiscard]] int collate_boundary() const noexcept {
    return static_cast<int>(stages.size()) + 1;
  }
  /// Seconds of a batch's copy; 0 if the device is the host.
  [[nodiscard]] double copy_seconds() const noexcept;
  [[nodiscard]] bool copy_overlaps() const noexcept {
    return copy_prefetch >= 1 && copy_non_blocking;
  }
};

/// What a Replayer reports about such a chain. Throws Error(usage) for a chain that cannot run.
CACHEBISECT_INTERNAL_API ChainDescription describe(const SimulatedChain& chain);

}  // namespace cachebisect

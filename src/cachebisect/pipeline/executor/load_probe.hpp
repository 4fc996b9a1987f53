// Inline observation of the sample path: sparse, weighted, one writer a tally.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/pipeline/executor.hpp"

namespace cachebisect {

/// A number with one writer and any number of readers.
template <class T>
class Gauge {
 public:
  void add(T value) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  void clear() noexcept { value_.store(T{}, std::memory_order_relaxed); }
  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

/// What one worker saw of one stage. Seconds are weighted sums over observed samples.
struct alignas(64) StageTally {
  Gauge<double> wall;
  Gauge<double> wall_weight;
  Gauge<double> cpu;
  Gauge<double> cpu_weight;
  Gauge<std::uint64_t> samples;
  Gauge<double> serial;  ///< of all samples, as the stage reports it

  void clear() noexcept;
  [[nodiscard]] double busy_seconds() const noexcept;
  [[nodiscard]] double cpu_seconds() const noexcept;
};

/// Chooses which samples are observed and by which clock, so that observing costs about a
/// tenth of a percent, and takes their laps. The weight of an observed sample is the number of
/// samples since the last one, which keeps sums unbiased at any spacing. One worker's own.
class SampleProbe {
 public:
  /// Forgets the spacing; `steps`: laps a sample.
  void reset(std::size_t steps) noexcept;
  /// Before a sample. True when its laps are to be taken.
  [[nodiscard]] bool begin() noexcept {
    if (--until_cpu_ == 0) return start(true);
    if (--until_wall_ == 0) return start(false);
    return false;
  }
  /// Seconds since begin() or the last lap go to `tally`.
  void lap(StageTally& tally) noexcept;
  /// After the last lap of an observed sample: sets the distance to the next.
  void end() noexcept;

 private:
  bool start(bool cpu) noexcept;

  double laps_ = 1;
  double began_ = 0;
  double last_ = 0;
  double mean_ = 0;
  bool cpu_ = false;
  std::uint32_t wall_gap_ = 1;
  std::uint32_t cpu_gap_ = 1;
  std::uint32_t until_wall_ = 1;
  std::uint32_t until_cpu_ = 1;
};

}  // namespace cachebisect

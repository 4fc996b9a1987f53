// What one worker saw of one stage: sums with one writer that others may read meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

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

/// Seconds of the samples that were observed, each for as many as it stands for.
class WeightedGauge {
 public:
  /// `samples` together took `seconds`; each stands for `weight` of them.
  void add(double seconds, double weight, double samples = 1) noexcept {
    sum_.add(seconds * weight);
    weight_.add(weight * samples);
  }
  void clear() noexcept {
    sum_.clear();
    weight_.clear();
  }
  /// Seconds of `samples` like those observed; 0 while there are none.
  [[nodiscard]] double scaled_to(std::uint64_t samples) const noexcept {
    const double weight = weight_.get();
    // Less the cost of reading the clock, a sum over stages that do nothing may fall below zero.
    return weight > 0 ? std::max(0.0, sum_.get()) / weight * static_cast<double>(samples) : 0;
  }

 private:
  Gauge<double> sum_;
  Gauge<double> weight_;
};

struct alignas(64) StageTally {
  WeightedGauge wall;
  WeightedGauge cpu;
  Gauge<std::uint64_t> samples;
  Gauge<double> serial;  ///< of all samples, as the stage reports it

  void clear() noexcept {
    wall.clear();
    cpu.clear();
    samples.clear();
    serial.clear();
  }
  [[nodiscard]] double busy_seconds() const noexcept { return wall.scaled_to(samples.get()); }
  [[nodiscard]] double cpu_seconds() const noexcept { return cpu.scaled_to(samples.get()); }
};

}  // namespace cachebisect

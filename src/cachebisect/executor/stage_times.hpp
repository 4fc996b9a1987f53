// What one worker measured of one stage. One thread writes; others may read at any time.
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

/// Seconds of the observed samples, each weighted by the number of samples that it represents.
class WeightedSeconds {
 public:
  /// `samples` together took `seconds`; each represents `weight` samples.
  void add(double seconds, double weight, double samples = 1) noexcept {
    sum_.add(seconds * weight);
    weight_.add(weight * samples);
  }
  void clear() noexcept {
    sum_.clear();
    weight_.clear();
  }
  /// Seconds of `samples` like those observed; 0 if none was observed.
  [[nodiscard]] double scaled_to(std::uint64_t samples) const noexcept {
    const double weight = weight_.get();
    // After subtracting the cost of reading the clock, stages that do nothing may be below zero.
    return weight > 0 ? std::max(0.0, sum_.get()) / weight * static_cast<double>(samples) : 0;
  }

 private:
  Gauge<double> sum_;
  Gauge<double> weight_;
};

struct alignas(64) StageTimes {
  WeightedSeconds wall;
  WeightedSeconds cpu;
  Gauge<std::uint64_t> samples;
  Gauge<double> serial;  ///< seconds for all samples, as the stage reports them

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

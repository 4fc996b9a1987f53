// Finds the cycle that a simulated ring falls into: its state, step by step, and whether it recurs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cachebisect {

/// What decides how a ring goes on: counts, and seconds from now. Not thread safe.
class RingState {
 public:
  void clear() {
    counts_.clear();
    seconds_.clear();
  }
  void add_count(std::int64_t count) { counts_.push_back(count); }
  void add_seconds(double seconds) { seconds_.push_back(seconds); }
  /// Of something that matters only while it lies ahead.
  void add_future(double seconds) { seconds_.push_back(std::max(0.0, seconds)); }

  /// The same counts, and no time off by more than `tolerance` seconds.
  [[nodiscard]] bool equals(const RingState& other, double tolerance) const {
    const auto close = [&](double a, double b) { return a == b || std::abs(a - b) <= tolerance; };
    return counts_ == other.counts_ &&
           std::equal(seconds_.begin(), seconds_.end(), other.seconds_.begin(),
                      other.seconds_.end(), close);
  }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<double> seconds_;
};

/// Brent's search: each state is compared with one kept, which is renewed at the powers of two.
class CycleSearch {
 public:
  /// The state after the next step, to be filled.
  [[nodiscard]] RingState& next() {
    state_.clear();
    return state_;
  }
  /// Takes the state just filled, with its time; the length of the cycle where it recurs.
  [[nodiscard]] std::optional<std::size_t> recurs(double now) {
    const double tolerance = kSame * (now - kept_at_) / static_cast<double>(1 + since_kept_);
    if (++since_kept_ <= keep_for_ && state_.equals(kept_, tolerance)) return since_kept_;
    if (since_kept_ == keep_for_) {
      std::swap(kept_, state_);
      kept_at_ = now;
      since_kept_ = 0;
      keep_for_ *= 2;
    }
    return std::nullopt;
  }

 private:
  static constexpr double kSame = 1e-8;  ///< of a step's time: rounding, no more

  RingState state_;
  RingState kept_;
  double kept_at_ = 0;
  std::size_t since_kept_ = 0;
  std::size_t keep_for_ = 1;
};

}  // namespace cachebisect

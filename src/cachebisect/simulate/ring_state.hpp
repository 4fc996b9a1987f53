// The state of a simulated ring, in a form that two states can be compared in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace cachebisect {

/// Everything that decides how a ring continues: counts, and seconds from now. Not thread safe.
class RingState {
 public:
  void clear() {
    counts_.clear();
    seconds_.clear();
  }
  void add_count(std::int64_t count) { counts_.push_back(count); }
  void add_seconds(double seconds) { seconds_.push_back(seconds); }
  /// For a time that matters only if it lies ahead.
  void add_future(double seconds) { seconds_.push_back(std::max(0.0, seconds)); }

  /// True if all counts are equal and no time differs by more than `tolerance` seconds.
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

}  // namespace cachebisect

// Collects the ranks of a distributed job, which find their loaders one after another.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/attached_replayer.hpp"

namespace cachebisect {

/// A process without other ranks is complete alone.
class DescribedRanks {
 public:
  /// False, with `described` unchanged, if it is of another job than those already here.
  bool add(AttachedAdapter& described);
  [[nodiscard]] bool empty() const noexcept { return adapters_.empty(); }
  [[nodiscard]] bool is_complete() const noexcept;
  /// Throws Error(usage) if a rank has ended, or some are missing `limit` seconds after the first.
  void check(double limit);
  /// The time from which on check() throws for missing ranks, on the monotonic clock; empty before
  /// the first rank.
  [[nodiscard]] std::optional<double> deadline(double limit) const;
  void add_descriptors(std::vector<int>& descriptors) const;
  /// By rank.
  [[nodiscard]] std::vector<AttachedAdapter> take();

 private:
  [[nodiscard]] std::size_t world() const noexcept;

  std::vector<AttachedAdapter> adapters_;
  double first_seconds_ = 0;
};

/// The first rank that has a loader; null if none has.
[[nodiscard]] CACHEBISECT_INTERNAL_API const AttachedAdapter* first_with_loader(
    const std::vector<AttachedAdapter>& ranks);

}  // namespace cachebisect

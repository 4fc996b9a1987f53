// What workers owe when they go on after a pause, so that a paused loader loads no faster.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// One worker's times between two pauses. Arithmetic only: the caller passes in the time, in
/// seconds on one clock. Used by one thread at a time.
class CACHEBISECT_INTERNAL_API WorkerTurn {
 public:
  /// After a pause the resources that workers share are free, and their first samples take less
  /// time; by the third one of each worker they queue again.
  static constexpr std::uint64_t kEarlySamples = 2;

  void begin(double now) noexcept;
  /// The worker was blocked on the ring, or worked on a whole batch, for so long.
  void exclude(double seconds) noexcept { excluded_ += seconds; }
  /// Counts a sample. True if end_early() is due.
  [[nodiscard]] bool count_sample() noexcept { return ++samples_ == kEarlySamples; }
  void end_early(double now) noexcept { early_ = now - begun_ - excluded_; }
  /// The worker returns. `paused_at`: the time of the pause; 0: it stopped for another reason.
  /// `worked`: it was at work then, and not waiting.
  void end(double now, double paused_at, bool worked) noexcept;

  /// By how much less time the early samples took than as many later ones; nothing if the worker
  /// had too few, or did not begin with a debt.
  [[nodiscard]] std::optional<double> saved() const noexcept;
  /// The worker owes the time that it worked after the pause and, if it did, `queueing`.
  void charge(double queueing) noexcept;
  /// Seconds that it owes before what it had loaded counts, and then before it loads on.
  [[nodiscard]] double& overtime_debt() noexcept { return overtime_debt_; }
  [[nodiscard]] double& queueing_debt() noexcept { return queueing_debt_; }

 private:
  double begun_ = 0;
  double ended_ = 0;
  double excluded_ = 0;  ///< of the time since begun_
  double early_ = 0;     ///< seconds of the early samples
  double overtime_ = 0;  ///< seconds from the pause to the worker's return
  double overtime_debt_ = 0;
  double queueing_debt_ = 0;
  std::uint64_t samples_ = 0;
  bool after_pause_ = false;  ///< this turn began with a debt
};

/// The time that each worker's first samples after a pause do not queue. While workers finish what
/// they are at, their queue for a lock, a disk or a core empties outside the clock; each worker
/// that then owes only its own overtime finds that resource free. For W workers and a lock that
/// takes L per sample this is about (W - 1) L per pause. Not thread safe.
class CACHEBISECT_INTERNAL_API QueueDebt {
 public:
  /// What the workers of one turn saved.
  void add(std::span<const double> saved) noexcept;
  /// Seconds that each worker owes: the mean of what was saved, if it is more than its error.
  [[nodiscard]] double seconds() const noexcept;
  [[nodiscard]] bool known() const noexcept { return turns_ > 0; }

 private:
  double turns_ = 0;
  double mean_ = 0;
  double squares_ = 0;       ///< of the turns' means, about their mean
  double error_within_ = 0;  ///< standard error of the last turn's mean, from its workers
};

}  // namespace cachebisect

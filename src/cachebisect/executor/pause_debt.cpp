#include "cachebisect/executor/pause_debt.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cachebisect {

void WorkerTurn::begin(double now) noexcept {
  begun_ = now;
  excluded_ = 0;
  early_ = 0;
  overtime_ = 0;
  samples_ = 0;
}

void WorkerTurn::end(double now, double paused_at, bool worked) noexcept {
  ended_ = now;
  if (worked && paused_at > 0) overtime_ = std::max(0.0, now - paused_at);
}

std::optional<double> WorkerTurn::saved() const noexcept {
  if (!after_pause_ || samples_ <= kEarlySamples) return std::nullopt;
  const auto late = static_cast<double>(samples_ - kEarlySamples);
  const double late_seconds = ended_ - begun_ - excluded_ - early_;
  return static_cast<double>(kEarlySamples) * late_seconds / late - early_;
}

void WorkerTurn::charge(double queueing) noexcept {
  samples_ = 0;
  after_pause_ = overtime_ > 0;
  if (!after_pause_) return;
  overtime_debt_ += std::exchange(overtime_, 0);
  queueing_debt_ += queueing;
}

void QueueDebt::add(std::span<const double> saved) noexcept {
  if (saved.empty()) return;
  const auto count = static_cast<double>(saved.size());
  double mean = 0;
  for (const double seconds : saved) mean += seconds / count;
  double squares = 0;
  for (const double seconds : saved) squares += (seconds - mean) * (seconds - mean);
  error_within_ = count > 1 ? std::sqrt(squares / (count - 1) / count) : std::abs(mean);
  ++turns_;
  const double off = mean - mean_;
  mean_ += off / turns_;
  squares_ += off * (mean - mean_);
}

double QueueDebt::seconds() const noexcept {
  constexpr double kErrors = 2;         // about 2% of turns without a queue are taken for one
  constexpr double kTurnsForError = 3;  // fewer say nothing of how they vary
  if (turns_ == 0) return 0;
  const double error = turns_ < kTurnsForError ? error_within_ / std::sqrt(turns_)
                                               : std::sqrt(squares_ / (turns_ - 1) / turns_);
  return mean_ > kErrors * error ? mean_ : 0;
}

}  // namespace cachebisect

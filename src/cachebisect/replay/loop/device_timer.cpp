#include "cachebisect/replay/loop/device_timer.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

/// Limit of the cost, as a share of the calling thread's time.
constexpr double kShare = 0.0005;
/// True cost of a measurement over its own timing, which misses the clock readings at its ends.
constexpr double kUnseen = 2;

}  // namespace

DeviceTimer::DeviceTimer(Device& device, std::size_t turns, const ProbeClocks& clocks)
    : device_(&device),
      clocks_(clocks),
      on_host_(!device.copies()),
      host_clock_(device.kind() != DeviceKind::cuda) {
  turns_.reserve(turns);
  for (std::size_t i = 0; i < turns; ++i) {
    turns_.push_back({device.make_event(), device.make_event()});
  }
}

void DeviceTimer::reset(bool observed) {
  for (Turn& turn : turns_) turn.pending = false;
  observed_ = observed;
  measuring_ = false;
  choice_.reset();
  begun_ = 0;
  samples_ = 0;
  busy_sum_ = cpu_sum_ = sample_sum_ = 0;
}

void DeviceTimer::begin(Stream& stream) {
  if (!observed_) return;
  ++begun_;
  measuring_ = choice_.next();
  if (!measuring_) return;
  measured_ = clocks_.wall();
  if (begun_ == 1) began_ = measured_;
  Turn& turn = turns_[next_];
  collect(turn);
  if (on_host_) cpu_began_ = clocks_.cpu();
  device_->record(*turn.before, stream);
  turn.queued = clocks_.wall();
  spent_ = turn.queued - measured_;
}

void DeviceTimer::end(Stream& stream, std::int64_t samples) {
  if (!observed_) return;
  samples_ += static_cast<std::uint64_t>(samples);
  if (!measuring_) return;
  const double now = clocks_.wall();
  Turn& turn = turns_[next_];
  device_->record(*turn.after, stream);
  turn.pending = true;
  turn.weight = choice_.weight();
  if (on_host_) cpu_sum_ += turn.weight * (clocks_.cpu() - cpu_began_);
  sample_sum_ += turn.weight * static_cast<double>(samples);
  next_ = (next_ + 1) % turns_.size();
  choose_next(spent_ + clocks_.wall() - now);
}

void DeviceTimer::choose_next(double spent) {
  // An interruption can only make a measurement look more expensive, so the minimum counts.
  cost_ = cost_ == 0 ? spent : std::min(cost_, spent);
  const auto turns = static_cast<double>(begun_ - 1);
  const double each = turns > 0 ? (measured_ - began_) / turns : 0;
  choice_.set_stretch(affordable_stretch(kUnseen * cost_, kShare, each));
}

void DeviceTimer::collect(Turn& turn) {
  if (!turn.pending) return;
  turn.pending = false;
  if (!device_->synchronize_for(*turn.after, 0)) device_->synchronize(*turn.after);
  double began = device_->completion_seconds(*turn.before);
  // On the emulated timeline, the end of earlier work may precede the queuing on an empty stream.
  if (host_clock_) began = std::max(began, turn.queued);
  busy_sum_ += turn.weight * std::max(0.0, device_->completion_seconds(*turn.after) - began);
}

DeviceTime DeviceTimer::total() {
  for (Turn& turn : turns_) collect(turn);
  if (sample_sum_ == 0) return {0, 0, samples_};
  const double scale = static_cast<double>(samples_) / sample_sum_;
  return {busy_sum_ * scale, cpu_sum_ * scale, samples_};
}

}  // namespace cachebisect

#include "cachebisect/simulate/simulated_device.hpp"

#include <algorithm>

namespace cachebisect {

SimulatedDevice::SimulatedDevice(const SimulatedChain& chain, const RingRequest& request)
    : chain_(chain),
      buffers_(static_cast<std::size_t>(std::max(3, chain.copy_prefetch + 1))),
      copies_(request.boundary < chain.boundaries() && !chain.device_is_host &&
              request.bypass != chain.boundaries()) {
  step_ends_.reserve(static_cast<std::size_t>(request.steps));
}

double SimulatedDevice::may_submit(double time) const {
  const std::size_t batch = step_ends_.size();
  return batch < buffers_ ? time : std::max(time, step_ends_[batch - buffers_]);
}

double SimulatedDevice::copy(double time) {
  if (!copies_) return time;
  const double after = chain_.copy_overlaps() ? copy_end_ : std::max(copy_end_, last_step());
  copy_end_ = std::max(time, after) + chain_.copy_seconds();
  copy_busy_ += chain_.copy_seconds();
  ++copied_batches_;
  return copy_end_;
}

double SimulatedDevice::step(double time, double trainer_end) {
  const bool updates = (step_ends_.size() + 1) % period() == 0;
  const double end =
      std::max(time, last_step()) + chain_.step_seconds + (updates ? chain_.update_seconds : 0);
  step_ends_.push_back(chain_.trainer_seconds > 0 ? std::max(end, trainer_end) : end);
  return step_ends_.back();
}

void SimulatedDevice::append_state(double now, RingState& state) const {
  state.add_future(copy_end_ - now);
  state.add_count(static_cast<std::int64_t>(step_ends_.size() % period()));
  const std::size_t outstanding = std::min(buffers_, step_ends_.size());
  for (auto end = step_ends_.end() - static_cast<std::ptrdiff_t>(outstanding);
       end != step_ends_.end(); ++end) {
    state.add_future(*end - now);
  }
}

void SimulatedDevice::append_results(RingRun& run) const {
  run.step_ends = step_ends_;
  StageCounters& copy = run.stages.back();
  copy.busy_seconds = copy_busy_;
  copy.samples = copied_batches_ * static_cast<std::uint64_t>(chain_.batch_size);
}

}  // namespace cachebisect

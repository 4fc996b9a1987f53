// Times groups of steps within one block, by the device's own completion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/device/device.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"

namespace cachebisect {

/// The events that end the groups of a block, made before the block begins. One thread at a time.
class GroupMarks {
 public:
  void begin(Device& device, const BlockSteps& steps) {
    const int groups = std::clamp(steps.groups, 1, steps.timed);
    group_steps_ = groups > 1 ? steps.timed / groups : 0;
    samples_.clear();
    const auto needed = group_steps_ > 0 ? static_cast<std::size_t>(steps.timed / group_steps_) : 0;
    samples_.reserve(needed);
    while (events_.size() < needed) events_.push_back(device.make_event());
  }
  /// True if the timed step number `step` (from 1) ends a group.
  [[nodiscard]] bool ends_group(int step) const noexcept {
    return group_steps_ > 0 && step % group_steps_ == 0 && samples_.size() < events_.size();
  }
  /// Call at the end of a group; `samples`: timed so far.
  void mark(Device& device, Stream& stream, std::uint64_t samples) {
    device.record(*events_[samples_.size()], stream);
    samples_.push_back(samples);
  }
  /// Seconds per sample of each group; all events must have happened.
  [[nodiscard]] std::vector<double> taus(Device& device, double began) const {
    std::vector<double> taus;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const double now = device.completion_seconds(*events_[i]);
      taus.push_back((now - began) / static_cast<double>(samples_[i] - before));
      began = now;
      before = samples_[i];
    }
    return taus;
  }

 private:
  int group_steps_ = 0;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::uint64_t> samples_;
};

}  // namespace cachebisect

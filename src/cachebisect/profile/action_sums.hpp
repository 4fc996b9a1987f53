// Sums of what recorders and probes saw, over all cycles of a profile.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cachebisect/profile/loop_recorder.hpp"
#include "cachebisect/profile/profile.hpp"
#include "cachebisect/protocol/block.hpp"

namespace cachebisect::profile {

class ActionSums {
 public:
  /// A profiled block and what was recorded of it. `workers` may be null: then the inline probes
  /// tell the times of the stages.
  void add(const BlockResult& block, const LoopRecorder& recorder, const LoadRecorder* workers);
  /// Profiled steps so far.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// What the sums say of the loop that `profile.chain` describes.
  void write_to(Profile& profile) const;

 private:
  struct Sum {
    std::uint64_t calls = 0;
    double seconds = 0;
    void add(double more) {
      ++calls;
      seconds += more;
    }
  };

  [[nodiscard]] const Sum& of(LoopWork work) const { return loop_[static_cast<std::size_t>(work)]; }
  void add_workers(const LoadRecorder& workers, double begin, double end);
  [[nodiscard]] Action stage_action(const StageDescription& stage, std::size_t i) const;
  [[nodiscard]] Action slot_write(const StageCounters& counted) const;
  [[nodiscard]] ActionGroup training_thread(const ChainDescription& chain) const;
  [[nodiscard]] ActionGroup loading(const ChainDescription& chain) const;
  [[nodiscard]] ActionGroup on_device(const ChainDescription& chain) const;

  std::array<Sum, kLoopWorks> loop_{};  ///< by LoopWork
  Sum device_steps_;                    ///< of an emulated device
  Sum device_copies_;
  std::vector<StageCounters> stages_;
  bool recorded_ = false;         ///< the following are known
  std::vector<Sum> stage_spans_;  ///< by stage
  Sum slot_writes_;
  double seconds_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t samples_ = 0;
  int cycles_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace cachebisect::profile

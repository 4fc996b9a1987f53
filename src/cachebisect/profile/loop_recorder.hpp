// A view of a training loop: what the training thread and an emulated device did in the profiled
// steps of a block, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/record_buffer.hpp"
#include "cachebisect/executor/load_recorder.hpp"
#include "cachebisect/observe/device_work.hpp"
#include "cachebisect/observe/loop_event.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/spans.hpp"
#include "cachebisect/train/step_profiler.hpp"

namespace cachebisect::profile {

/// Records from the end of the last untimed step to the end of the last timed one. Used by the
/// training thread; nothing is allocated, and nothing waits, in the timed steps.
class CACHEBISECT_INTERNAL_API LoopRecorder final : public LoopView {
 public:
  /// `steps`: timed ones of a block at most. `workers` (may be null) records at the same time.
  LoopRecorder(std::size_t steps, LoadRecorder* workers);
  /// In the blocks to come `profiler` (may be null) is prepared after `untimed` steps, at most
  /// those that are untimed, and started with the recording. The caller stops it.
  void profile_step(StepProfiler* profiler, int untimed) noexcept;

  /// In the blocks to come `sampler` (may be null) samples the recorded steps.
  void sample_cpu(CpuSampler* sampler) noexcept { sampler_ = sampler; }

  void block_begun(const BlockSteps& steps, Device& device, Stream& compute) override;
  void take(const LoopEvent& event) override;
  void block_ended() override;

  /// The spans of the latest block, in the order of their ends.
  [[nodiscard]] std::span<const LoopSpan> spans() const noexcept { return spans_.records(); }
  [[nodiscard]] const std::vector<DeviceSpan>& device_spans() const noexcept { return on_device_; }
  [[nodiscard]] double begin_seconds() const noexcept { return began_; }
  [[nodiscard]] double end_seconds() const noexcept { return ended_; }
  /// The first of the timed steps.
  [[nodiscard]] std::uint64_t first_batch() const noexcept { return warmup_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return spans_.dropped(); }

 private:
  /// A copy or step that an emulated device has been given.
  struct Submission {
    DeviceWork work;
    std::uint64_t batch = 0;
    bool is_copy = false;
  };

  void begin_recording();
  void end_recording(double now);
  /// What began at `begin` ends with `event`.
  void add(LoopWork work, double begin, const LoopEvent& event);
  void end_step(const LoopEvent& event);
  void submit(const LoopEvent& event, bool is_copy);
  void submitted(const LoopEvent& event);

  std::size_t steps_;
  LoadRecorder* workers_;
  CpuSampler* sampler_ = nullptr;
  StepProfiler* profiler_ = nullptr;
  std::uint64_t prepare_after_ = 0;  ///< steps
  RecordBuffer<LoopSpan> spans_;
  std::vector<DeviceSpan> on_device_;
  std::vector<Submission> submissions_;  ///< events made beforehand
  std::size_t used_ = 0;                 ///< number of submissions in use

  Device* device_ = nullptr;
  std::uint64_t warmup_ = 0;
  std::uint64_t total_ = 0;
  bool on_ = false;
  double began_ = 0;
  double ended_ = 0;
  // Beginnings of what is under way:
  double wait_ = 0;
  double copy_ = 0;
  double step_ = 0;
  double part_ = 0;
  double device_wait_ = 0;
  double iteration_ = 0;
};

}  // namespace cachebisect::profile

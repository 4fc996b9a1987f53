#include "cachebisect/timing/time_job.hpp"

#include <algorithm>
#include <limits>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/observe/loop_events.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/timing/process_memory.hpp"
#include "cachebisect/timing/step_timer.hpp"
#include "cachebisect/timing/timing_cost.hpp"

namespace cachebisect {
namespace {

/// Batches between two looks at the clock.
constexpr int kClockEvery = 4;

std::uint64_t planned_batches(const Job& job, int epochs) {
  const auto samples = static_cast<std::uint64_t>(epochs) * job.pipeline.samples();
  return std::max<std::uint64_t>(1,
                                 samples / static_cast<std::uint64_t>(job.pipeline.batch_size()));
}

BlockRequest whole_run(const Job& job, std::uint64_t batches, double max_seconds) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  BlockRequest request;
  request.arm.observed = false;
  request.steps = static_cast<int>(std::min(batches, kMost));
  request.warmup_steps = untimed_batches(job);
  request.max_seconds = max_seconds;
  request.groups = std::max(1, request.steps / kClockEvery);
  return request;
}

/// The last batch of an epoch is filled from the next one.
void number_epochs(const Job& job, std::vector<BatchTimes>& batches) {
  for (BatchTimes& batch : batches) {
    batch.epoch = batch.batch * static_cast<std::uint64_t>(job.pipeline.batch_size()) /
                  std::max<std::uint64_t>(1, job.pipeline.samples());
  }
}

std::optional<TimingMemory> memory_in_use(const Device& device) {
  if (device.kind() == DeviceKind::cuda) {
    const DeviceInfo now = make_cuda_device(device.info().ordinal)->info();
    if (!now.memory_bytes || !now.free_bytes) return std::nullopt;
    return TimingMemory{static_cast<double>(*now.memory_bytes - *now.free_bytes), true};
  }
  const auto peak = peak_memory_bytes();
  return peak ? std::optional(TimingMemory{*peak, false}) : std::nullopt;
}

LoopEnd end_of(const BlockResult& block, const BlockRequest& request, std::uint64_t planned) {
  if (block.steps < request.steps) return LoopEnd::max_seconds;
  return static_cast<std::uint64_t>(request.steps) < planned ? LoopEnd::max_batches
                                                             : LoopEnd::epochs;
}

/// False if `stop` ended it.
bool run_whole(PipelineReplayer& replayer, const BlockRequest& request,
               const TimingOptions& options, TimedRun& run) {
  try {
    const BlockResult block = replayer.run(request, options.stop);
    run.first_batch_seconds = block.first_batch_seconds;
    run.ended_by = end_of(block, request, run.planned_batches);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    run.ended_by = LoopEnd::interrupted;
    return false;
  }
}

}  // namespace

TimedRun time_job(const Job& job, const TimingOptions& options) {
  TimedRun run{.batch_size = job.pipeline.batch_size(),
               .workers = job.workers,
               .planned_batches = planned_batches(job, options.epochs)};
  std::uint64_t batches = run.planned_batches;
  if (options.max_batches > 0) batches = std::min(batches, options.max_batches);
  const BlockRequest request = whole_run(job, batches, options.max_seconds);
  if (options.progress) {
    options.progress("timing " + format_count(static_cast<std::uint64_t>(request.steps)) +
                     " batches of " + std::to_string(run.batch_size));
  }
  job.step->release_memory();
  reset_peak_memory();
  StepTimer timer(static_cast<std::size_t>(request.steps), job.pipeline.copy_options().prefetch);
  LoopEvents events({&timer});
  PipelineReplayer replayer = job.make_replayer();
  replayer.observe(&events);
  const bool whole = run_whole(replayer, request, options, run);
  replayer.observe(nullptr);
  run.batches = timer.batches();
  number_epochs(job, run.batches);
  run.memory = memory_in_use(*job.device);
  if (whole && options.measure_cost) {
    if (options.progress) options.progress("measuring what timing costs");
    run.cost = measure_timing_cost(job, replayer, run, options.stop);
  }
  return run;
}

std::vector<TimePart> time_parts(const Job& job) {
  std::vector<TimePart> parts{TimePart::load};
  if (job.device->copies()) parts.push_back(TimePart::copy);
  const std::vector<StepPart> told = job.step->parts();
  for (const StepPart part : told) {
    switch (part) {
      case StepPart::forward:
        parts.push_back(TimePart::forward);
        break;
      case StepPart::backward:
        parts.push_back(TimePart::backward);
        break;
      case StepPart::optimizer:
        parts.push_back(TimePart::optimizer);
        break;
    }
  }
  if (told.empty()) parts.push_back(TimePart::step);
  parts.push_back(TimePart::other);
  return parts;
}

TimingRecord timing_record_of(const Job& job, const TimingOptions& options) {
  const PipelineSpec& spec = job.pipeline.spec();
  const bool trains_model =
      spec.train.kind == TrainSpec::Kind::model || spec.train.kind == TrainSpec::Kind::module;
  const bool emulated = job.device->kind() == DeviceKind::emulated;
  TimingRecord record;
  record.name = spec.name;
  record.device = job.device->info().name;
  record.step = job.step->description();
  if (trains_model && !emulated) record.precision = spec.train.precision;
  record.generated_data = job.pipeline.source().generated();
  record.emulated = emulated;
  record.parts = time_parts(job);
  record.epochs = options.epochs;
  record.bisect_command =
      "cachebisect --pipeline " + (spec.file.empty() ? std::string("FILE") : spec.file);
  record.config_json = to_json(spec);
  return record;
}

}  // namespace cachebisect

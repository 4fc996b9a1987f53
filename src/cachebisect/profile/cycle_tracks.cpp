#include "cachebisect/profile/cycle_tracks.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace cachebisect::profile {

using json_values::Json;

namespace {

/// Tracks are threads in this format. These numbers are above those of any thread of the system
/// (PID_MAX_LIMIT, 2^22), so that LibTorch's events have tracks of their own.
constexpr std::int64_t kTraining = 10'000'000;
constexpr std::int64_t kStarvation = kTraining + 1;
constexpr std::int64_t kDeviceSteps = kTraining + 2;
constexpr std::int64_t kDeviceCopies = kTraining + 3;
constexpr std::int64_t kFirstWorker = kTraining + 10;

/// As PyTorch names its own: tools find the waits by this form.
constexpr const char* kLoaderWait = "enumerate(DataLoader)#cachebisect.__next__";

std::string title_of(LoopWork work, std::uint64_t step) {
  switch (work) {
    case LoopWork::load:
      return kLoaderWait;
    case LoopWork::copy:
      return "copy";
    case LoopWork::step:
      return "step";
    case LoopWork::forward:
      return "forward";
    case LoopWork::backward:
      return "backward";
    case LoopWork::optimizer:
      return "optimizer";
    case LoopWork::device_wait:
      return "wait for the device";
    case LoopWork::iteration:
      break;
  }
  return "ProfilerStep#" + std::to_string(step);
}

/// Adds slices of one cycle.
class Slices {
 public:
  Slices(TraceEvents& trace, const Cycle& cycle) : trace_(trace), cycle_(cycle) {}

  /// Seconds of the monotonic clock; what began before the cycle is cut.
  void add(std::int64_t track, const std::string& name, const char* category, double begin,
           double end, const Json& args) {
    const double from = std::max(begin, cycle_.begin);
    if (end < from) return;
    trace_.slice(track, name, category, system_time(cycle_, from), system_time(cycle_, end), args);
  }

 private:
  TraceEvents& trace_;
  const Cycle& cycle_;
};

void add_training(Slices& slices, const Cycle& cycle) {
  for (const LoopSpan& span : cycle.loop) {
    const std::uint64_t step =
        cycle.first_step + span.batch - std::min(span.batch, cycle.first_batch);
    const bool load = span.work == LoopWork::load;
    const Json args{{"batch", span.batch}};
    slices.add(kTraining, title_of(span.work, step), load ? "cpu_op" : "user_annotation",
               span.begin, span.end, args);
    if (load && span.starved) {
      slices.add(kStarvation, "starved", "starvation", span.begin, span.end, args);
    }
  }
}

std::string worker_title(const LoadSpan& span, const ChainDescription& chain) {
  if (span.work == LoadWork::slot_write) return "slot write";
  if (span.work == LoadWork::slot_wait) return "wait for a free slot";
  return chain.stages.at(span.stage).name;
}

Json worker_args(const LoadSpan& span, const ChainDescription& chain) {
  if (span.work == LoadWork::slot_write) return {{"sample", span.item}};
  if (span.work == LoadWork::slot_wait) return {{"batch", span.item}};
  const StageDescription& stage = chain.stages.at(span.stage);
  return {{works_on_batches(stage.kind) ? "batch" : "sample", span.item}, {"type", stage.type}};
}

void add_workers(Slices& slices, const Cycle& cycle, const ChainDescription& chain) {
  std::int64_t track = kFirstWorker;
  for (const auto& worker : cycle.workers) {
    for (const LoadSpan& span : worker) {
      if (span.work == LoadWork::publish) continue;
      slices.add(track, worker_title(span, chain),
                 span.work == LoadWork::stage ? "stage" : "loader", span.begin, span.end,
                 worker_args(span, chain));
    }
    ++track;
  }
}

void add_device(Slices& slices, const Cycle& cycle) {
  for (const DeviceSpan& span : cycle.device) {
    slices.add(span.is_copy ? kDeviceCopies : kDeviceSteps, span.is_copy ? "copy" : "step",
               "emulated_device", span.begin, span.end, {{"batch", span.batch}});
  }
}

void add_ring(TraceEvents& trace, const Cycle& cycle) {
  for (const ReadyCount& count : ready_batches(cycle)) {
    trace.counter("ring", "batches ready", system_time(cycle, count.seconds), count.batches);
  }
}

}  // namespace

void name_tracks(TraceEvents& trace, const ChainDescription& chain) {
  if (chain.stages.empty()) return;
  if (chain.settings.of_file) {
    trace.name_track(kTraining, "cachebisect: training loop");
    trace.name_track(kStarvation, "cachebisect: starvation");
  }
  if (chain.device_kind == DeviceKind::emulated) {
    trace.name_track(kDeviceSteps, "cachebisect: emulated device, steps");
    trace.name_track(kDeviceCopies, "cachebisect: emulated device, copies");
  }
  if (chain.workers == 0) trace.name_track(kFirstWorker, "cachebisect: loading (training thread)");
  for (int i = 0; i < chain.workers; ++i) {
    trace.name_track(kFirstWorker + i, "cachebisect: worker " + std::to_string(i));
  }
}

void add_tracks(TraceEvents& trace, const Cycle& cycle, const ChainDescription& chain) {
  Slices slices(trace, cycle);
  add_training(slices, cycle);
  add_workers(slices, cycle, chain);
  add_device(slices, cycle);
  add_ring(trace, cycle);
}

}  // namespace cachebisect::profile

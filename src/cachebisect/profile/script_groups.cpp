#include "cachebisect/profile/script_groups.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/profile/step_trace.hpp"

namespace cachebisect::profile {
namespace {

ActionGroup group_of(const TimingRecord& record, const TimedRun& run) {
  ActionGroup group{"training thread", 0, {}};
  for (const BatchTimes& batch : run.batches) group.seconds += batch.total_seconds;
  for (const TimePart part : record.parts) {
    Action action{std::string(to_string(part)), 0, 0};
    for (const BatchTimes& batch : run.batches) action.seconds += batch.of(part);
    if (part != TimePart::other) action.calls = run.batches.size();
    group.actions.push_back(std::move(action));
  }
  return group;
}

}  // namespace

Profile profile_of_script(const TimingRecord& record, const ScriptLoading& loading,
                          const std::string& trace, const Options& options) {
  const TimedRun& run = record.runs.front();
  Profile profile;
  profile.chain.settings.of_file = false;
  profile.chain.name = record.name;
  profile.chain.device_name = record.device;
  profile.chain.device_kind = record.device == "CPU" ? DeviceKind::cpu : DeviceKind::cuda;
  profile.chain.batch_size = run.batch_size;
  profile.chain.workers = run.workers;
  profile.chain.train = record.step;
  profile.cycles = 1;
  profile.steps = run.batches.size();
  for (const BatchTimes& batch : run.batches) {
    profile.samples += static_cast<std::uint64_t>(batch.samples);
  }
  profile.groups.push_back(group_of(record, run));
  profile.seconds = profile.groups.front().seconds;
  if (!loading.workers.empty()) {
    profile.chain.stages = loading_stages();
    const double load_seconds = profile.groups.front().actions.front().seconds;
    profile.groups.push_back(loading_group(loading, run.workers, load_seconds));
  }
  profile.interrupted = run.ended_by == TimingEnd::interrupted;
  if (trace.empty()) {
    if (options.trace || options.kind != Kind::simple) {
      profile.findings.emplace_back(
          "the script ended before torch.profiler had seen its steps: there is no trace of them");
    }
    return profile;
  }
  const StepTrace read = read_step_trace(trace);
  Cycle cycle;
  cycle.clock_offset = loading.begin;
  if (!read.operators.empty()) {
    const std::int64_t begin = read.operators.front().begin;
    cycle.clock_offset = loading.begin > 0 ? std::min(begin, loading.begin) : begin;
  }
  add_loading(cycle, loading);
  cycle.step_trace = trace;
  profile.recorded.push_back(std::move(cycle));
  if (options.kind == Kind::advanced) profile.operators = operator_rows(profile.recorded);
  if (const std::string memory = memory_text(profile.recorded); !memory.empty()) {
    profile.findings.push_back(memory);
  }
  return profile;
}

}  // namespace cachebisect::profile

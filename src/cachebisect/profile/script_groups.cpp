#include "cachebisect/profile/script_groups.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/profile/loading_group.hpp"
#include "cachebisect/profile/step_trace.hpp"

namespace cachebisect::profile {
namespace {

ActionGroup group_of(const ScriptLoop& loop) {
  ActionGroup group{"training thread", 0, {}};
  for (const BatchTimes& batch : loop.batches) group.seconds += batch.total_seconds;
  for (const TimePart part : script_parts()) {
    Action action{std::string(to_string(part)), 0, 0};
    for (const BatchTimes& batch : loop.batches) action.seconds += batch.of(part);
    if (part != TimePart::other) action.calls = loop.batches.size();
    group.actions.push_back(std::move(action));
  }
  return group;
}

}  // namespace

Profile profile_of_script(const ScriptLoop& loop, const ScriptLoading& loading,
                          const std::string& trace, const Options& options) {
  Profile profile;
  profile.chain.settings.of_file = false;
  profile.chain.name = loop.name;
  profile.chain.device_name = loop.device;
  profile.chain.device_kind = loop.device == "CPU" ? DeviceKind::cpu : DeviceKind::cuda;
  profile.chain.batch_size = loop.batch_size;
  profile.chain.workers = loop.workers;
  profile.chain.train = loop.step;
  profile.cycles = 1;
  profile.steps = loop.batches.size();
  for (const BatchTimes& batch : loop.batches) {
    profile.samples += static_cast<std::uint64_t>(batch.samples);
  }
  profile.groups.push_back(group_of(loop));
  profile.seconds = profile.groups.front().seconds;
  if (!loading.workers.empty()) {
    profile.chain.stages = loading_stages();
    const double load_seconds = profile.groups.front().actions.front().seconds;
    profile.groups.push_back(loading_group(loading, loop.workers, load_seconds));
  }
  profile.interrupted = loop.ended_by == LoopEnd::interrupted;
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

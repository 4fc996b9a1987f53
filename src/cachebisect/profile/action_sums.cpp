#include "cachebisect/profile/action_sums.hpp"

#include <algorithm>

#include "cachebisect/profile/action_group.hpp"

namespace cachebisect::profile {
namespace {

bool runs_in_loader(StageKind kind) { return kind != StageKind::copy && kind != StageKind::device; }

}  // namespace

void ActionSums::add_workers(const LoadRecorder& workers, double begin, double end) {
  recorded_ = true;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    for (const LoadSpan& span : workers.worker(i).spans().records()) {
      const double seconds = std::min(span.end, end) - std::max(span.begin, begin);
      if (seconds < 0) continue;
      if (span.work == LoadWork::slot_write) slot_writes_.add(seconds);
      if (span.work != LoadWork::stage) continue;
      if (stage_spans_.size() <= span.stage) stage_spans_.resize(span.stage + 1);
      stage_spans_[span.stage].add(seconds);
    }
  }
}

void ActionSums::add(const BlockResult& block, const LoopRecorder& recorder,
                     const LoadRecorder* workers) {
  if (workers != nullptr) add_workers(*workers, recorder.begin_seconds(), recorder.end_seconds());
  for (const LoopSpan& span : recorder.spans()) {
    loop_[static_cast<std::size_t>(span.work)].add(span.end - span.begin);
  }
  for (const DeviceSpan& span : recorder.device_spans()) {
    (span.is_copy ? device_copies_ : device_steps_).add(span.end - span.begin);
  }
  stages_.resize(std::max(stages_.size(), block.stages.size()));
  for (std::size_t i = 0; i < block.stages.size(); ++i) stages_[i] += block.stages[i];
  seconds_ += recorder.end_seconds() - recorder.begin_seconds();
  steps_ += static_cast<std::uint64_t>(block.steps);
  samples_ += block.samples;
  dropped_ += recorder.dropped();
  ++cycles_;
}

/// The probes see untimed steps and batches loaded ahead too: their mean per sample counts.
Action ActionSums::stage_action(const StageDescription& stage, std::size_t i) const {
  if (recorded_ && runs_in_loader(stage.kind)) {
    const Sum sum = i < stage_spans_.size() ? stage_spans_[i] : Sum{};
    return {stage.name, sum.calls, sum.seconds};
  }
  const StageCounters& counted = stages_.at(i);
  if (counted.samples == 0) return {stage.name, 0, 0};
  const double writing = std::min(counted.slot_write_seconds, counted.busy_seconds);
  const double per_sample = (counted.busy_seconds - writing) / static_cast<double>(counted.samples);
  return {stage.name, samples_, per_sample * static_cast<double>(samples_)};
}

Action ActionSums::slot_write(const StageCounters& counted) const {
  if (recorded_) return {"slot write", slot_writes_.calls, slot_writes_.seconds};
  const double write = counted.slot_write_seconds / static_cast<double>(counted.slot_writes);
  return {"slot write", samples_, write * static_cast<double>(samples_)};
}

ActionGroup ActionSums::training_thread(const ChainDescription& chain) const {
  ActionGroup group{"training thread", seconds_, {}};
  const auto add = [&](LoopWork work, const char* name) {
    const Sum& sum = of(work);
    if (sum.calls > 0) group.actions.push_back({name, sum.calls, sum.seconds});
  };
  add(LoopWork::load, chain.workers > 0 ? "load (wait for a batch)" : "load");
  add(LoopWork::copy, "copy");
  if (chain.device_kind == DeviceKind::cpu) {
    for (std::size_t i = 0; i < chain.stages.size(); ++i) {
      if (chain.stages[i].kind != StageKind::device) continue;
      group.actions.push_back(stage_action(chain.stages[i], i));
    }
  }
  if (of(LoopWork::forward).calls > 0) {
    add(LoopWork::forward, "forward");
    add(LoopWork::backward, "backward");
    add(LoopWork::optimizer, "optimizer");
  } else {
    add(LoopWork::step, "step");
  }
  add(LoopWork::device_wait, "wait for the device");
  add_rest(group, "other");
  return group;
}

ActionGroup ActionSums::loading(const ChainDescription& chain) const {
  ActionGroup group =
      group_of_loading(chain.workers, chain.workers > 0 ? seconds_ : of(LoopWork::load).seconds);
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    if (!runs_in_loader(chain.stages[i].kind)) continue;
    group.actions.push_back(stage_action(chain.stages[i], i));
    const StageCounters& counted = stages_.at(i);
    if (counted.slot_writes == 0) continue;
    group.actions.push_back(slot_write(counted));
  }
  add_rest(group, chain.workers > 0 ? "wait for a free slot, other" : "other");
  return group;
}

ActionGroup ActionSums::on_device(const ChainDescription& chain) const {
  ActionGroup group{"device", seconds_, {}};
  if (chain.device_kind == DeviceKind::cpu) return group;
  if (chain.device_kind == DeviceKind::emulated) {
    group.title = "emulated device";
    group.actions.push_back({"copy", device_copies_.calls, device_copies_.seconds});
    group.actions.push_back({"step", device_steps_.calls, device_steps_.seconds});
    return group;
  }
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    if (runs_in_loader(chain.stages[i].kind)) continue;
    Action action = stage_action(chain.stages[i], i);
    action.calls = steps_;
    group.actions.push_back(std::move(action));
  }
  return group;
}

void ActionSums::write_to(Profile& profile) const {
  profile.cycles = cycles_;
  profile.steps = steps_;
  profile.samples = samples_;
  profile.seconds = seconds_;
  profile.dropped += dropped_;
  profile.groups = {training_thread(profile.chain), loading(profile.chain)};
  ActionGroup device = on_device(profile.chain);
  if (!device.actions.empty()) profile.groups.push_back(std::move(device));
}

}  // namespace cachebisect::profile

#include "cachebisect/replay/arm_runner.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/protocol/settling.hpp"

namespace cachebisect {
namespace {

void set_timing(const BlockTiming& timing, BlockResult& result) {
  result.seconds = timing.seconds;
  result.steps = timing.steps;
  result.group_taus = timing.group_taus;
  result.samples = timing.samples;
  result.cpu_seconds = timing.cpu_seconds;
  result.starved_seconds = timing.starved_seconds;
  result.padding_share = timing.padding_share;
  result.first_batch_seconds = timing.first_batch_seconds;
  result.trainer_seconds = timing.trainer_seconds;
  result.ready_batches = timing.ready_batches;
  result.device_idle_share = timing.device_idle_share;
}

/// Host stages from the loader (empty: none ran), copy and device stages from the loop.
void set_counters(const Pipeline& pipeline, const LoadCounters& loaded,
                  const std::vector<DeviceTime>& on_device, BlockResult& result) {
  result.stages.resize(pipeline.stages().size());
  std::copy(loaded.stages.begin(), loaded.stages.end(), result.stages.begin());
  for (std::size_t i = 0; i < on_device.size(); ++i) {
    StageCounters& stage = result.stages.at(pipeline.copy_position() + i);
    stage.busy_seconds = on_device[i].busy_seconds;
    stage.cpu_seconds = on_device[i].cpu_seconds;
    stage.samples = on_device[i].samples;
  }
}

/// `steps` rounded up to whole groups of batches.
int whole_groups(const Trainer& on, int steps) {
  const int unit =
      std::lcm(on.pipeline.spec().train.accumulate,
               on.loader_options.loader == LoaderKind::batch ? on.loader.workers() : 1);
  return (steps + unit - 1) / unit * unit;
}

/// The settling steps of an empty ring.
int whole_settling_steps(const Trainer& on) {
  return whole_groups(on, settling_steps(on.loader.workers(), on.loader.slots()));
}

/// Steps of a block in which each worker loads enough samples to tell the first ones from others.
int piece_steps(const Trainer& on, int steps) {
  constexpr int kSamplesPerWorker = 6;
  const auto batch = static_cast<int>(on.pipeline.batch_size());
  const int needed = (kSamplesPerWorker * on.loader.workers() + batch - 1) / batch;
  return whole_groups(on, std::max({steps, needed, 2}));
}

/// Steps of the shortest unseen block; what is in flight at its end is loaded for it too.
constexpr int kFewestUnseenSteps = 2;

template <class Item>
std::span<const Item> at_most(std::span<const Item> items, std::size_t count) {
  return items.first(std::min(items.size(), count));
}

}  // namespace

BlockResult ArmRunner::run(Trainer& on, const ArmBlock& block) {
  if (unfinished_ != nullptr) unfinished_->loop.drain();
  unfinished_ = &on;
  turn_ = turn_of(on, block);
  ArmBlock settled = block;
  int before = 0;
  if (turn_.learns) {
    before = settle_in_pieces(on, block);
  } else {
    settled.steps.warmup += turn_.settling;
  }
  BlockResult result = run_arm(on, settled);
  if (result.warmup_steps == 0) result.warmup_steps = before + settled.steps.warmup;
  unfinished_ = nullptr;
  return result;
}

ArmRunner::Turn ArmRunner::turn_of(Trainer& on, const ArmBlock& block) {
  Turn turn{&on.loader};
  // A recorded block begins with batch 0, and has the untimed steps that it needs.
  if (block.arm.kind == ArmKind::unseen || !kept_.fit() || !kept_.loads(block.arm) ||
      block.recorder != nullptr)
    return turn;
  turn.kept = true;
  if (&on == trainer_) {
    Executor* own = kept_.find(block.arm);
    turn.kept = own != nullptr;
    if (turn.kept) turn.loader = own;
  }
  if (!turn.kept || !turn.loader->is_suspended()) turn.settling = whole_settling_steps(on);
  turn.learns =
      turn.kept && turn.settling > 0 && turn.loader->workers() > 1 && !turn.loader->knows_pauses();
  return turn;
}

int ArmRunner::settle_in_pieces(Trainer& on, const ArmBlock& block) {
  const int half = turn_.settling / 2;
  int steps = 0;
  for (const int part : {half, turn_.settling - half}) {
    ArmBlock piece = block;
    piece.steps = {.warmup = 1, .timed = piece_steps(on, part) - 1, .observe = false};
    piece.steps.first_step = block.steps.first_step;
    run_arm(on, piece);
    steps += piece.steps.warmup + piece.steps.timed;
  }
  return steps;
}

BlockResult ArmRunner::run_loaded(Trainer& on, LoadRequest request, StepSource source,
                                  const ArmBlock& block) const {
  Executor& loader = *turn_.loader;
  request.observe = block.steps.observe;
  request.recorder = block.recorder;
  source.loader = &loader;
  BlockResult result;
  result.start_seconds = monotonic_seconds();
  std::optional<LoadGuard> running;
  std::optional<LoadTurn> turn;
  if (turn_.kept) {
    turn.emplace(loader, request);
  } else {
    running.emplace(loader, request);
  }
  const double starting = monotonic_seconds() - result.start_seconds;
  const BlockTiming timing = on.loop.run(source, block.steps, block.stop);
  set_timing(timing, result);
  result.first_batch_seconds += starting;
  const LoadCounters counters = loader.counters();
  result.skipped = counters.skipped;
  result.first_skipped = counters.first_skipped;
  if (block.steps.observe) set_counters(on.pipeline, counters, timing.device_stages, result);
  return result;
}

BlockResult ArmRunner::run_arm(Trainer& on, const ArmBlock& block) {
  const auto batch_size = static_cast<std::uint64_t>(trainer_->pipeline.batch_size());
  turn_.first_batch = places_.begin(block.arm, cache_->samples() / batch_size);
  BlockResult result = run_kind(on, block);
  // A kept ring is ahead of the steps.
  const bool ahead = turn_.kept && turn_.loader->is_suspended() && !steps_from_device(block.arm);
  const auto steps = static_cast<std::uint64_t>(block.steps.warmup + block.steps.timed);
  places_.end(block.arm, ahead ? turn_.loader->loaded_batches() : steps);
  return result;
}

BlockResult ArmRunner::run_kind(Trainer& on, const ArmBlock& block) {
  switch (block.arm.kind) {
    case ArmKind::bypass:
      return run_bypass(block);
    case ArmKind::shadow:
      return run_shadow(block);
    case ArmKind::live:
      return run_live(on, block);
    case ArmKind::unseen:
      return run_unseen(block);
    case ArmKind::replay:
    case ArmKind::null:
      break;
  }
  return block.arm.boundary == 0 ? run_live(on, block) : run_replay(block);
}

BlockResult ArmRunner::run_live(Trainer& on, const ArmBlock& block, const StepSource& source,
                                std::size_t bypass_stage, const HostCacheView& bypass_cache) {
  // What is in flight at the block's end has been read too.
  const int batches = block.steps.warmup + block.steps.timed + turn_.loader->slots();
  LiveReading::Block live =
      reading_.begin(on.pipeline, on.order, static_cast<std::uint64_t>(batches), turn_.first_batch);
  live.request.bypass_stage = bypass_stage;
  live.request.bypass_cache = bypass_cache;
  if (bypass_stage > 0) live.request.epoch = cache_->epoch();
  BlockResult result = run_loaded(on, live.request, source, block);
  result.resident_share = live.resident_share;
  return result;
}

bool ArmRunner::steps_from_device(const Arm& arm) const {
  if (arm.kind == ArmKind::shadow) return true;
  return arm.kind == ArmKind::bypass &&
         trainer_->pipeline.held(static_cast<std::size_t>(arm.stage)) == Held::device;
}

BlockResult ArmRunner::run_bypass(const ArmBlock& block) {
  const auto stage = static_cast<std::size_t>(block.arm.stage);
  if (!steps_from_device(block.arm)) {
    return run_live(*trainer_, block, {}, stage, cache_->host(stage));
  }
  return run_live(*trainer_, block,
                  {nullptr, cache_->device(stage), stage, turn_.first_batch, false});
}

BlockResult ArmRunner::run_shadow(const ArmBlock& block) {
  const std::size_t last = trainer_->last_boundary();
  return run_live(*trainer_, block, {nullptr, cache_->device(last), last, turn_.first_batch, true});
}

BlockResult ArmRunner::run_replay(const ArmBlock& block) {
  const auto boundary = static_cast<std::size_t>(block.arm.boundary);
  const Pipeline& pipeline = trainer_->pipeline;
  try {
    return pipeline.held(boundary) == Held::device ? replay_from_device(block, boundary)
                                                   : replay_from_host(block, boundary);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    throw error.with_context("in replay at boundary " + std::to_string(boundary) + ", after '" +
                             pipeline.stages()[boundary - 1].name + "'");
  }
}

BlockResult ArmRunner::replay_from_device(const ArmBlock& block, std::size_t boundary) {
  const StepSource source{nullptr, at_most(cache_->device(boundary), max_batches(block.arm)),
                          boundary, turn_.first_batch, false};
  BlockResult result;
  result.start_seconds = monotonic_seconds();
  const BlockTiming timing = trainer_->loop.run(source, block.steps, block.stop);
  set_timing(timing, result);
  if (block.steps.observe) {
    set_counters(trainer_->pipeline, {}, timing.device_stages, result);
  }
  return result;
}

BlockResult ArmRunner::replay_from_host(const ArmBlock& block, std::size_t boundary) {
  const auto batch_size = static_cast<std::uint64_t>(trainer_->pipeline.batch_size());
  const std::size_t batches = max_batches(block.arm);
  const HostCacheView cached = cache_->host(boundary);
  LoadRequest request;
  request.boundary = boundary;
  request.cache = {at_most(cached.samples, batches * batch_size), at_most(cached.batches, batches)};
  request.first_position = turn_.first_batch * batch_size;
  request.epoch = cache_->epoch();
  return run_loaded(*trainer_, request, {}, block);
}

bool ArmRunner::has_unseen(double item_bytes) const {
  const int fewest = kFewestUnseenSteps + trainer_->loader.slots();
  return unseen_.batches_left(item_bytes) >= static_cast<std::uint64_t>(fewest);
}

/// No sample is loaded twice: after its first time it is not unseen.
BlockResult ArmRunner::run_unseen(const ArmBlock& block) {
  Executor& loader = trainer_->loader;
  ArmBlock fitting = block;
  BlockSteps& steps = fitting.steps;
  const auto left =
      static_cast<int>(std::min<std::uint64_t>(unseen_.batches_left(block.item_bytes), INT_MAX));
  const int room = std::max(kFewestUnseenSteps, left - loader.slots());
  steps.warmup = std::clamp(steps.warmup, 1, room - 1);
  steps.timed = std::clamp(steps.timed, 1, room - steps.warmup);
  const auto batches = static_cast<std::uint64_t>(steps.warmup + steps.timed + loader.slots());
  LoadRequest request;
  request.boundary = static_cast<std::size_t>(block.arm.boundary);
  request.cache = unseen_.load(loader, request.boundary, batches, block.stop);
  request.batches = batches;
  BlockResult result = run_loaded(*trainer_, request, {}, fitting);
  result.warmup_steps = steps.warmup;
  return result;
}

/// How many cached batches the arm may use.
std::size_t ArmRunner::max_batches(const Arm& arm) const {
  const auto batch_size = static_cast<std::uint64_t>(trainer_->pipeline.batch_size());
  const std::uint64_t batches = arm.cache_samples / batch_size;
  return batches == 0 ? cache_->samples() / batch_size : batches;
}

}  // namespace cachebisect

#include "cachebisect/replay/pipeline_replayer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/executor.hpp"
#include "cachebisect/replay/boundary_cache.hpp"
#include "cachebisect/replay/describe_chain.hpp"
#include "cachebisect/replay/input_guard.hpp"
#include "cachebisect/replay/live_order.hpp"
#include "cachebisect/replay/load_guard.hpp"
#include "cachebisect/replay/residency.hpp"
#include "cachebisect/replay/suspension_watch.hpp"
#include "cachebisect/replay/train_loop.hpp"

namespace cachebisect {
namespace {

constexpr std::uint64_t kRoundsBetweenChecks = 8;

TrainStep& checked(TrainStep& step, const Pipeline& pipeline) {
  check_expectations(step, pipeline.device_spec());
  return step;
}

void set_timing(const BlockTiming& timing, BlockResult& result) {
  result.seconds = timing.seconds;
  result.samples = timing.samples;
  result.cpu_seconds = timing.cpu_seconds;
  result.starved_seconds = timing.starved_seconds;
  result.padding_share = timing.padding_share;
  result.first_batch_seconds = timing.first_batch_seconds;
}

std::string to_text(const Arm& arm) {
  const int place = arm.kind == ArmKind::bypass ? arm.stage : arm.boundary;
  return std::string(to_string(arm.kind)) + " at " + std::to_string(place);
}

int worker_count(const ReplayOptions& options, const Pipeline& pipeline, Device& device) {
  const int workers = options.workers.value_or(pipeline.spec().workers);
  return workers == kAutoWorkers ? resolve_workers(pipeline, device) : workers;
}

}  // namespace

struct PipelineReplayer::State {
  State(Pipeline chain, std::shared_ptr<Device> on, std::shared_ptr<TrainStep> trained,
        const ReplayOptions& replay)
      : pipeline(std::move(chain)),
        device(std::move(on)),
        step(std::move(trained)),
        options(replay),
        copy(pipeline.copy_options()),
        loop(pipeline, *device, checked(*step, pipeline), copy, pipeline.spec().train.sync_every),
        loader(
            pipeline, *device,
            {worker_count(replay, pipeline, *device), pipeline.spec().prefetch, copy.pinned, {}}),
        cache(pipeline, *device, copy),
        order(pipeline),
        weights_kept(step->snapshot()) {}

  [[nodiscard]] std::size_t last_boundary() const { return pipeline.stages().size(); }
  /// Batches that a block takes from the loader at most, those in flight at its end included.
  [[nodiscard]] std::uint64_t batches_of(const BlockSteps& steps) const {
    const int batches = steps.warmup + steps.timed + loader.slots();
    return static_cast<std::uint64_t>(batches);
  }
  void load_block(const LoadPlan& plan, const BlockSteps& steps, const std::stop_token& stop,
                  BlockResult& result);
  void run_live(LoadPlan plan, const BlockSteps& steps, const std::stop_token& stop,
                BlockResult& result);
  void run_replay(std::size_t boundary, const BlockSteps& steps, const std::stop_token& stop,
                  BlockResult& result);
  void run_arm(const Arm& arm, const BlockSteps& steps, const std::stop_token& stop,
               BlockResult& result);
  [[nodiscard]] bool needs_cache(const Arm& arm) const {
    const bool live = arm.kind != ArmKind::bypass && arm.boundary == 0;
    return !live || options.io == IoMode::warm;
  }

  Pipeline pipeline;
  std::shared_ptr<Device> device;
  std::shared_ptr<TrainStep> step;
  ReplayOptions options;
  CopyOptions copy;
  TrainLoop loop;
  Executor loader;
  BoundaryCache cache;
  LiveOrder order;
  SuspensionWatch watch;
  bool weights_kept;
  CacheFacts facts;
  std::uint64_t round_batch = 0;    ///< where this round begins in the caches, in batches
  std::uint64_t longest_block = 1;  ///< of this round, in batches
  std::vector<bool> replayed;       ///< by boundary
  std::uint64_t rounds = 0;
  std::size_t next_check = 1;
  bool queue_dirty = false;  ///< a block ended in an error
};

void PipelineReplayer::State::load_block(const LoadPlan& plan, const BlockSteps& steps,
                                         const std::stop_token& stop, BlockResult& result) {
  const LoadGuard running(loader, plan);
  const BlockTiming timing = loop.run(loader, steps, stop);
  set_timing(timing, result);
  const LoadCounters counters = loader.counters();
  result.skipped = counters.skipped;
  result.first_skipped = counters.first_skipped;
  for (const StageCounters& stage : counters.stages) {
    result.stages.push_back(
        {stage.busy_seconds, stage.cpu_seconds, stage.slot_write_seconds, stage.samples});
  }
}

void PipelineReplayer::State::run_live(LoadPlan plan, const BlockSteps& steps,
                                       const std::stop_token& stop, BlockResult& result) {
  const std::uint64_t batches = batches_of(steps);
  std::vector<SampleIndex> chosen;
  if (options.io == IoMode::warm) {
    plan.indices = cache.indices();
    plan.first_position = round_batch * static_cast<std::uint64_t>(pipeline.batch_size());
    result.resident_share = facts.resident_share;
  } else {
    plan.first_position = order.reserve(batches);
    if (options.io == IoMode::cold) {
      chosen = order.indices(plan.first_position, batches);
      evict(pipeline.source(), chosen);
      result.resident_share = resident_share(pipeline.source(), chosen);
      result.start_seconds = monotonic_seconds();
      plan.indices = chosen;
      plan.first_position = 0;
    }
  }
  load_block(plan, steps, stop, result);
}

void PipelineReplayer::State::run_replay(std::size_t boundary, const BlockSteps& steps,
                                         const std::stop_token& stop, BlockResult& result) {
  if (pipeline.held(boundary) == Held::device) {
    set_timing(loop.run(cache.device(boundary), boundary, round_batch, steps, stop), result);
  } else {
    LoadPlan plan;
    plan.boundary = boundary;
    plan.cache = cache.host(boundary);
    plan.first_position = round_batch * static_cast<std::uint64_t>(pipeline.batch_size());
    load_block(plan, steps, stop, result);
  }
  if (replayed.at(boundary)) return;
  replayed.at(boundary) = true;
  check_untouched(pipeline, cache, boundary, step->name());
}

void PipelineReplayer::State::run_arm(const Arm& arm, const BlockSteps& steps,
                                      const std::stop_token& stop, BlockResult& result) {
  if (queue_dirty) loop.drain();
  queue_dirty = true;
  if (arm.kind == ArmKind::bypass) {
    const auto stage = static_cast<std::size_t>(arm.stage);
    LoadPlan plan;
    plan.bypass_stage = stage;
    plan.bypass_cache = cache.host(stage);
    run_live(plan, steps, stop, result);
  } else if (arm.kind == ArmKind::live || arm.boundary == 0) {
    run_live({}, steps, stop, result);
  } else {
    run_replay(static_cast<std::size_t>(arm.boundary), steps, stop, result);
  }
  queue_dirty = false;
}

PipelineReplayer::PipelineReplayer(Pipeline pipeline, std::shared_ptr<Device> device,
                                   std::shared_ptr<TrainStep> step, const ReplayOptions& options)
    : state_(std::make_unique<State>(std::move(pipeline), std::move(device), std::move(step),
                                     options)) {}

PipelineReplayer::~PipelineReplayer() = default;

ChainDescription PipelineReplayer::describe() const {
  const State& s = *state_;
  return describe_chain(s.pipeline, *s.device, *s.step,
                        {s.loader.workers(), s.loader.slots(), s.weights_kept, s.facts.item_bytes});
}

bool PipelineReplayer::supports(const Arm& arm) const {
  const auto last = static_cast<int>(state_->last_boundary());
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return arm.boundary >= 0 && arm.boundary <= last && arm.overrides.empty();
    case ArmKind::live:
      return arm.overrides.empty();
    case ArmKind::bypass:
      return arm.stage >= 1 && arm.stage <= static_cast<int>(state_->pipeline.copy_position());
    case ArmKind::shadow:
      break;
  }
  return false;
}

CacheFacts PipelineReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  State& s = *state_;
  s.facts = s.cache.fill(s.loader, budget, stop);
  if (s.options.io != IoMode::as_is) {
    s.facts.resident_share = resident_share(s.pipeline.source(), s.cache.indices());
  }
  s.replayed.assign(s.last_boundary() + 1, false);
  s.round_batch = 0;
  s.longest_block = 1;
  return s.facts;
}

void PipelineReplayer::begin_round() {
  State& s = *state_;
  if (s.weights_kept) s.step->restore();
  s.round_batch += std::exchange(s.longest_block, 1);
  ++s.rounds;
  if (!s.cache.filled() || s.rounds % kRoundsBetweenChecks != 0) return;
  // One boundary at a time, so that looking costs little.
  check_untouched(s.pipeline, s.cache, s.next_check, s.step->name());
  s.next_check = s.next_check % s.last_boundary() + 1;
}

BlockResult PipelineReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  State& s = *state_;
  if (!supports(request.arm)) {
    throw Error(ErrorKind::usage, "this replayer cannot run " + to_text(request.arm));
  }
  if (!s.cache.filled() && s.needs_cache(request.arm)) {
    throw Error(ErrorKind::internal, "run() before prepare()");
  }
  const BlockSteps steps{std::max(request.warmup_steps, 1), std::max(request.steps, 1),
                         s.round_batch};
  s.longest_block =
      std::max(s.longest_block, static_cast<std::uint64_t>(steps.warmup + steps.timed));
  BlockResult result;
  result.steps = steps.timed;
  result.warmup_steps = steps.warmup;
  result.start_seconds = clock();
  s.watch.arm();
  try {
    s.run_arm(request.arm, steps, stop, result);
  } catch (...) {
    s.watch.disarm();
    throw;
  }
  result.is_void = s.watch.disarm();
  return result;
}

double PipelineReplayer::clock() const { return monotonic_seconds(); }

}  // namespace cachebisect

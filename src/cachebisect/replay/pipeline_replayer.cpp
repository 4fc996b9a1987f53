#include "cachebisect/replay/pipeline_replayer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"
#include "cachebisect/replay/cache/input_guard.hpp"
#include "cachebisect/replay/job/describe_chain.hpp"
#include "cachebisect/replay/job/training_job.hpp"
#include "cachebisect/replay/loop/load_guard.hpp"
#include "cachebisect/replay/loop/suspension_watch.hpp"
#include "cachebisect/replay/loop/tool_cost.hpp"
#include "cachebisect/replay/reading/live_reading.hpp"
#include "cachebisect/replay/reading/residency.hpp"

namespace cachebisect {
namespace {

/// Batches left out between the blocks of two rounds, in the caches and of the live ones, which
/// are not to read a data set through by skipping.
constexpr std::uint64_t kMostSkipped = 64;
constexpr std::uint64_t kMostUnread = 8;
constexpr std::uint64_t kRoundsBetweenChecks = 8;
constexpr double kCostSeconds = 0.02;

void set_timing(const BlockTiming& timing, BlockResult& result) {
  result.seconds = timing.seconds;
  result.samples = timing.samples;
  result.cpu_seconds = timing.cpu_seconds;
  result.starved_seconds = timing.starved_seconds;
  result.padding_share = timing.padding_share;
  result.first_batch_seconds = timing.first_batch_seconds;
  result.trainer_seconds = timing.trainer_seconds;
  result.ready_batches = timing.ready_batches;
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

/// A block that the loader feeds.
void run_loaded(TrainingJob& on, LoadPlan plan, StepSource source, const BlockSteps& steps,
                const std::stop_token& stop, BlockResult& result) {
  plan.observe = steps.observe;
  source.loader = &on.loader;
  const double began = monotonic_seconds();
  const LoadGuard running(on.loader, plan);
  const double starting = monotonic_seconds() - began;
  const BlockTiming timing = on.loop.run(source, steps, stop);
  set_timing(timing, result);
  result.first_batch_seconds += starting;
  const LoadCounters counters = on.loader.counters();
  result.skipped = counters.skipped;
  result.first_skipped = counters.first_skipped;
  if (steps.observe) set_counters(on.pipeline, counters, timing.device_stages, result);
}

std::string to_text(const Arm& arm) {
  const int place = arm.kind == ArmKind::bypass ? arm.stage : arm.boundary;
  return std::string(to_string(arm.kind)) + " at " + std::to_string(place);
}

bool replays(const Arm& arm) { return arm.kind == ArmKind::replay || arm.kind == ArmKind::null; }

int worker_count(const ReplayOptions& options, const Pipeline& pipeline, Device& device) {
  const int workers = options.workers.value_or(pipeline.spec().workers);
  return workers == kAutoWorkers ? resolve_workers(pipeline, device) : workers;
}

}  // namespace

struct PipelineReplayer::State {
  State(Pipeline chain, std::shared_ptr<Device> on, std::shared_ptr<TrainStep> trained,
        const ReplayOptions& replay)
      : options(replay),
        workers(worker_count(replay, chain, *on)),
        job(std::move(chain), std::move(on), std::move(trained), workers),
        cache(job.pipeline, *job.device, job.pipeline.copy_options()),
        reading(options.io, cache) {}

  const CacheFacts& take_over(CacheFacts filled);
  TrainingJob& job_of(const Arm& arm);
  [[nodiscard]] std::span<const DeviceBatch> device_batches(std::size_t boundary,
                                                            const Arm& arm) const;
  [[nodiscard]] HostCacheView host_items(std::size_t boundary, const Arm& arm) const;
  void run_live(TrainingJob& on, const LoadPlan& extra, const StepSource& source,
                const BlockSteps& steps, const std::stop_token& stop, BlockResult& result);
  void run_bypass(const Arm& arm, const BlockSteps& steps, const std::stop_token& stop,
                  BlockResult& result);
  void run_shadow(const BlockSteps& steps, const std::stop_token& stop, BlockResult& result);
  void run_replay(const Arm& arm, const BlockSteps& steps, const std::stop_token& stop,
                  BlockResult& result);
  void replay_from(const Arm& arm, const BlockSteps& steps, const std::stop_token& stop,
                   BlockResult& result);
  void run_arm(TrainingJob& on, const Arm& arm, const BlockSteps& steps,
               const std::stop_token& stop, BlockResult& result);
  [[nodiscard]] bool needs_cache(const Arm& arm) const {
    const bool live = arm.kind == ArmKind::live || (replays(arm) && arm.boundary == 0);
    return !live || options.io == IoMode::warm;
  }
  [[nodiscard]] std::uint64_t batch_size() const {
    return static_cast<std::uint64_t>(job.pipeline.batch_size());
  }

  ReplayOptions options;
  int workers;
  TrainingJob job;
  std::map<Overrides, std::unique_ptr<TrainingJob>> variants;
  BoundaryCache cache;
  LiveReading reading;
  SuspensionWatch watch;
  CacheFacts facts;
  std::uint64_t round_batch = 0;    ///< where this round begins in the caches, in batches
  std::uint64_t longest_block = 1;  ///< of this round, in batches
  std::vector<bool> replayed;       ///< by boundary
  std::uint64_t rounds = 0;
  std::size_t next_check = 1;
};

/// The caches have been filled: nothing of them has been replayed yet.
const CacheFacts& PipelineReplayer::State::take_over(CacheFacts filled) {
  facts = std::move(filled);
  if (options.io == IoMode::warm) {
    facts.resident_share = resident_share(job.pipeline.source(), cache.indices());
  }
  replayed.assign(job.last_boundary() + 1, false);
  return facts;
}

/// The job with the arm's overrides, made when it is first asked for.
TrainingJob& PipelineReplayer::State::job_of(const Arm& arm) {
  if (arm.overrides.empty()) return job;
  std::unique_ptr<TrainingJob>& place = variants[arm.overrides];
  if (!place) {
    PipelineVariant variant = options.rebuild(arm.overrides);
    if (!variant.device) variant.device = job.device;
    if (!variant.step) variant.step = job.step;
    int count = workers;
    if (arm.overrides.contains("workers")) {
      count = worker_count({}, variant.pipeline, *variant.device);
    }
    place = std::make_unique<TrainingJob>(std::move(variant.pipeline), std::move(variant.device),
                                          std::move(variant.step), count);
    place->order = job.order.shared_with(place->pipeline);
  }
  return *place;
}

std::span<const DeviceBatch> PipelineReplayer::State::device_batches(std::size_t boundary,
                                                                     const Arm& arm) const {
  const std::span<const DeviceBatch> all = cache.device(boundary);
  const std::uint64_t most = arm.cache_samples / batch_size();
  return most == 0 || most >= all.size() ? all : all.first(most);
}

HostCacheView PipelineReplayer::State::host_items(std::size_t boundary, const Arm& arm) const {
  HostCacheView view = cache.host(boundary);
  const std::uint64_t batches = arm.cache_samples / batch_size();
  if (batches == 0) return view;
  const auto most = [](auto items, std::uint64_t count) {
    return items.first(std::min<std::size_t>(items.size(), count));
  };
  return {most(view.samples, batches * batch_size()), most(view.batches, batches)};
}

void PipelineReplayer::State::run_live(TrainingJob& on, const LoadPlan& extra,
                                       const StepSource& source, const BlockSteps& steps,
                                       const std::stop_token& stop, BlockResult& result) {
  // What is in flight at the block's end has been read too.
  const int batches = steps.warmup + steps.timed + on.loader.slots();
  LoadPlan plan = reading.begin(on, static_cast<std::uint64_t>(batches), round_batch, result);
  plan.bypass_stage = extra.bypass_stage;
  plan.bypass_cache = extra.bypass_cache;
  if (options.io == IoMode::warm) result.resident_share = facts.resident_share;
  result.start_seconds = monotonic_seconds();
  run_loaded(on, plan, source, steps, stop, result);
}

void PipelineReplayer::State::run_bypass(const Arm& arm, const BlockSteps& steps,
                                         const std::stop_token& stop, BlockResult& result) {
  const auto stage = static_cast<std::size_t>(arm.stage);
  LoadPlan plan;
  StepSource source;
  if (job.pipeline.held(stage) == Held::host) {
    plan.bypass_stage = stage;
    plan.bypass_cache = cache.host(stage);
  } else {
    source = {nullptr, cache.device(stage), stage, round_batch, false};
  }
  run_live(job, plan, source, steps, stop, result);
}

void PipelineReplayer::State::run_shadow(const BlockSteps& steps, const std::stop_token& stop,
                                         BlockResult& result) {
  const std::size_t last = job.last_boundary();
  run_live(job, {}, {nullptr, cache.device(last), last, round_batch, true}, steps, stop, result);
}

void PipelineReplayer::State::replay_from(const Arm& arm, const BlockSteps& steps,
                                          const std::stop_token& stop, BlockResult& result) {
  const auto boundary = static_cast<std::size_t>(arm.boundary);
  if (job.pipeline.held(boundary) == Held::device) {
    const StepSource source{nullptr, device_batches(boundary, arm), boundary, round_batch, false};
    const BlockTiming timing = job.loop.run(source, steps, stop);
    set_timing(timing, result);
    if (steps.observe) set_counters(job.pipeline, {}, timing.device_stages, result);
    return;
  }
  LoadPlan plan;
  plan.boundary = boundary;
  plan.cache = host_items(boundary, arm);
  plan.first_position = round_batch * batch_size();
  run_loaded(job, plan, {}, steps, stop, result);
}

void PipelineReplayer::State::run_replay(const Arm& arm, const BlockSteps& steps,
                                         const std::stop_token& stop, BlockResult& result) {
  const auto boundary = static_cast<std::size_t>(arm.boundary);
  try {
    replay_from(arm, steps, stop, result);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    throw error.with_context("in replay at boundary " + std::to_string(boundary) + ", behind '" +
                             job.pipeline.stages()[boundary - 1].name + "'");
  }
  if (replayed.at(boundary)) return;
  replayed.at(boundary) = true;
  check_untouched(job.pipeline, cache, boundary, job.step->name());
}

void PipelineReplayer::State::run_arm(TrainingJob& on, const Arm& arm, const BlockSteps& steps,
                                      const std::stop_token& stop, BlockResult& result) {
  if (on.queue_dirty) on.loop.drain();
  on.queue_dirty = true;
  if (arm.kind == ArmKind::bypass) {
    run_bypass(arm, steps, stop, result);
  } else if (arm.kind == ArmKind::shadow) {
    run_shadow(steps, stop, result);
  } else if (arm.kind == ArmKind::live || arm.boundary == 0) {
    run_live(on, {}, {}, steps, stop, result);
  } else {
    run_replay(arm, steps, stop, result);
  }
  on.queue_dirty = false;
}

IoMode io_mode_of(const std::string& name) {
  if (name == "as-is") return IoMode::as_is;
  if (name == "warm") return IoMode::warm;
  if (name == "cold") return IoMode::cold;
  throw Error(ErrorKind::usage, "io \"" + name + "\" is not known; use as-is, warm or cold");
}

PipelineReplayer::PipelineReplayer(Pipeline pipeline, std::shared_ptr<Device> device,
                                   std::shared_ptr<TrainStep> step, const ReplayOptions& options)
    : state_(std::make_unique<State>(std::move(pipeline), std::move(device), std::move(step),
                                     options)) {}

PipelineReplayer::~PipelineReplayer() = default;

ChainDescription PipelineReplayer::describe() const {
  const State& s = *state_;
  return describe_chain(s.job.pipeline, *s.job.device, *s.job.step,
                        {s.workers, s.job.loader.slots(), s.job.weights_kept, s.facts.item_bytes});
}

bool PipelineReplayer::supports(const Arm& arm) const {
  const State& s = *state_;
  const auto last = static_cast<int>(s.job.last_boundary());
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return arm.boundary >= 0 && arm.boundary <= last && arm.overrides.empty();
    case ArmKind::live:
      return arm.overrides.empty() || s.options.rebuild;
    case ArmKind::bypass:
      return arm.stage >= 1 && arm.stage <= last && arm.overrides.empty();
    case ArmKind::shadow:
      return s.workers > 0 && arm.overrides.empty();
  }
  return false;
}

CacheFacts PipelineReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  s.round_batch = 0;
  s.longest_block = 1;
  const ToolCost cost =
      measure_tool_cost(*s.job.device, s.job.pipeline, s.workers, kCostSeconds, stop);
  CacheFacts filled = s.cache.fill(s.job.loader, budget, stop);
  filled.floor_seconds_per_sample = cost.seconds_per_sample;
  filled.floor_seconds_per_batch = cost.seconds_per_batch;
  return s.take_over(std::move(filled));
}

std::optional<CacheFacts> PipelineReplayer::refill(std::uint64_t samples,
                                                   const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  if (!s.cache.filled()) throw Error(ErrorKind::internal, "refill() before prepare()");
  std::optional<CacheFacts> facts = s.cache.refill(s.job.loader, samples, stop);
  if (!facts) return std::nullopt;
  facts->floor_seconds_per_sample = s.facts.floor_seconds_per_sample;
  facts->floor_seconds_per_batch = s.facts.floor_seconds_per_batch;
  return s.take_over(std::move(*facts));
}

void PipelineReplayer::begin_round() {
  State& s = *state_;
  if (s.job.weights_kept) s.job.step->restore();
  for (const auto& [overrides, variant] : s.variants) {
    if (variant->weights_kept && variant->step != s.job.step) variant->step->restore();
  }
  // Blocks as long as what repeats in cache or data would begin at the same place of it for ever.
  RandomStream random({.epoch = s.rounds, .stage = hash_name("first batch of a round")});
  s.round_batch += std::exchange(s.longest_block, 1) + random.below(kMostSkipped);
  s.job.order.reserve(random.below(kMostUnread));
  ++s.rounds;
  if (!s.cache.filled() || s.rounds % kRoundsBetweenChecks != 0) return;
  // One boundary at a time, so that looking costs little.
  check_untouched(s.job.pipeline, s.cache, s.next_check, s.job.step->name());
  s.next_check = s.next_check % s.job.last_boundary() + 1;
}

BlockResult PipelineReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  if (!supports(request.arm)) {
    throw Error(ErrorKind::usage, "this replayer cannot run " + to_text(request.arm));
  }
  if (!s.cache.filled() && s.needs_cache(request.arm)) {
    throw Error(ErrorKind::internal, "run() before prepare()");
  }
  TrainingJob& job = s.job_of(request.arm);
  const BlockSteps steps{std::max(request.warmup_steps, 1), std::max(request.steps, 1),
                         s.round_batch, request.arm.observed};
  s.longest_block =
      std::max(s.longest_block, static_cast<std::uint64_t>(steps.warmup + steps.timed));
  BlockResult result;
  result.steps = steps.timed;
  result.warmup_steps = steps.warmup;
  result.start_seconds = clock();
  s.watch.arm();
  try {
    s.run_arm(job, request.arm, steps, stop, result);
  } catch (...) {
    s.watch.disarm();
    throw;
  }
  result.is_void = s.watch.disarm();
  return result;
}

double PipelineReplayer::clock() const { return monotonic_seconds(); }

}  // namespace cachebisect

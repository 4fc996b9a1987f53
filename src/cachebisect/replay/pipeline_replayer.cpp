#include "cachebisect/replay/pipeline_replayer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/in_stage.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/replay/arm_runner.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"
#include "cachebisect/replay/cache/field_values.hpp"
#include "cachebisect/replay/cache/fill_stages.hpp"
#include "cachebisect/replay/cache/input_guard.hpp"
#include "cachebisect/replay/choose_workers.hpp"
#include "cachebisect/replay/describe_chain.hpp"
#include "cachebisect/replay/device_watch.hpp"
#include "cachebisect/replay/loop/suspension_watch.hpp"
#include "cachebisect/replay/loop/tool_cost.hpp"
#include "cachebisect/replay/reading/count_reads.hpp"
#include "cachebisect/replay/reading/files_of.hpp"
#include "cachebisect/replay/trainer.hpp"
#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {
namespace {

/// Limits of what is left out between two rounds: numbers of steps, and batches of the live ones,
/// so that skipping does not read through a whole data set.
constexpr std::uint64_t kMaxSkipped = 64;
constexpr std::uint64_t kMaxUnread = 8;
constexpr double kCostSeconds = 0.02;

std::string to_text(const Arm& arm) {
  const int place = arm.kind == ArmKind::bypass ? arm.stage : arm.boundary;
  return std::string(to_string(arm.kind)) + " at " + std::to_string(place);
}

bool replays(const Arm& arm) {
  return (arm.kind == ArmKind::replay || arm.kind == ArmKind::null) && arm.boundary > 0;
}

bool needs_cache(const Arm& arm, IoMode io) {
  return io == IoMode::warm || replays(arm) || arm.kind == ArmKind::bypass ||
         arm.kind == ArmKind::shadow;
}

/// Pages of files that nobody names cannot be evicted.
void check_io(IoMode io, const Pipeline& pipeline) {
  if (io == IoMode::cold && request_counts_of(pipeline.source())) {
    throw Error(ErrorKind::usage,
                "io cold: the source '" + pipeline.stages().front().name +
                    "' reads from a server, which this machine keeps in no memory; use as-is");
  }
  if (io != IoMode::cold || !names_no_files(pipeline.source(), SampleIndex{})) return;
  throw Error(
      ErrorKind::usage,
      "io cold: the source '" + pipeline.stages().front().name +
          "' does not say which files it reads, so that they cannot be evicted from memory, or "
          "holds all samples in memory itself; use as-is, leave out \"in_memory\", or give the "
          "source SourceStage::files()");
}

/// The options with `workers` resolved; trials read the next samples of `order`.
ReplayOptions resolved(ReplayOptions options, const Pipeline& pipeline,
                       const std::shared_ptr<Device>& device,
                       const std::shared_ptr<TrainStep>& step, const LiveOrder& order) {
  options.workers = options.workers.value_or(pipeline.spec().workers);
  if (*options.workers != kAutoWorkers) return options;
  WorkerChoice choice = choose_workers(pipeline, device, [&](int) { return step; }, order, {});
  options.workers = choice.workers;
  options.worker_search = std::move(choice.search);
  return options;
}

}  // namespace

struct PipelineReplayer::State {
  State(Pipeline chain, std::shared_ptr<Device> on, std::shared_ptr<TrainStep> trained,
        const ReplayOptions& replay)
      : order(replay.order ? *replay.order : LiveOrder(chain)),
        options(resolved(replay, chain, on, trained, order)),
        workers(*options.workers),
        trainer(std::move(chain), std::move(on), std::move(trained), workers, order, steps),
        cache(trainer.pipeline, *trainer.device, trainer.pipeline.copy_options(), order),
        guard(trainer.pipeline, cache, trainer.step->name()),
        runner(trainer, cache, options),
        device(*trainer.device) {}

  const CacheFacts& caches_filled(CacheFacts filled);
  Trainer& trainer_of(const Arm& arm);
  [[nodiscard]] bool can_run(const Arm& arm) const;
  [[nodiscard]] double item_bytes(int boundary) const {
    return facts.item_bytes.at(static_cast<std::size_t>(boundary));
  }

  LiveOrder order;
  ReplayOptions options;
  int workers;
  TrainedSteps steps;
  Trainer trainer;
  std::map<Overrides, std::unique_ptr<Trainer>> variants;
  BoundaryCache cache;
  InputGuard guard;
  ArmRunner runner;
  SuspensionWatch watch;
  DeviceWatch device;
  std::vector<int> cpus = allowed_cpus();
  CacheFacts facts;
  std::uint64_t round_step = 0;     ///< number of the first step of all blocks of this round
  std::uint64_t longest_block = 1;  ///< of this round, in steps
  std::uint64_t rounds = 0;
  LoopObserver* observer = nullptr;
  LoadRecorder* recorder = nullptr;
};

const CacheFacts& PipelineReplayer::State::caches_filled(CacheFacts filled) {
  const std::optional<double> known = facts.data_set_bytes;
  facts = std::move(filled);
  mark_unused(facts.fields, trainer.pipeline, *trainer.step);
  const Pipeline& pipeline = trainer.pipeline;
  facts.data_set_bytes = known ? known : in_stage(pipeline.stages().front(), [&] {
    return data_set_bytes(pipeline.source(), cache.indices());
  });
  runner.caches_filled();
  runner.reading().caches_filled(pipeline);
  guard.caches_filled();
  return facts;
}

/// Whatever memory is free and samples are left.
bool PipelineReplayer::State::can_run(const Arm& arm) const {
  const auto last = static_cast<int>(trainer.last_boundary());
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return arm.boundary >= 0 && arm.boundary <= last && arm.overrides.empty();
    case ArmKind::unseen:
      return arm.boundary >= 1 && arm.overrides.empty() && cache.filled() &&
             static_cast<std::size_t>(arm.boundary) <= trainer.pipeline.collate_position();
    case ArmKind::live:
      return arm.overrides.empty() || options.rebuild;
    case ArmKind::bypass:
      return arm.stage >= 1 && arm.stage <= last && arm.overrides.empty();
    case ArmKind::shadow:
      return workers > 0 && arm.overrides.empty();
  }
  return false;
}

/// The trainer of the pipeline with the arm's overrides, made when it is first needed.
Trainer& PipelineReplayer::State::trainer_of(const Arm& arm) {
  if (arm.overrides.empty()) return trainer;
  std::unique_ptr<Trainer>& place = variants[arm.overrides];
  if (!place) {
    PipelineVariant variant = options.rebuild(arm.overrides);
    if (!variant.device) variant.device = trainer.device;
    fill_cache_stages(variant.pipeline, *variant.device, {});
    if (!variant.step) variant.step = trainer.step;
    LiveOrder shared = order.shared_with(variant.pipeline);
    int count = workers;
    if (arm.overrides.contains("workers")) {
      count = *resolved({}, variant.pipeline, variant.device, variant.step, shared).workers;
    }
    place = std::make_unique<Trainer>(std::move(variant.pipeline), std::move(variant.device),
                                      std::move(variant.step), count, std::move(shared), steps);
  }
  return *place;
}

PipelineReplayer::PipelineReplayer(Pipeline pipeline, std::shared_ptr<Device> device,
                                   std::shared_ptr<TrainStep> step, const ReplayOptions& options) {
  check_io(options.io, pipeline);
  fill_cache_stages(pipeline, *device, {});
  state_ =
      std::make_unique<State>(std::move(pipeline), std::move(device), std::move(step), options);
}

PipelineReplayer::~PipelineReplayer() = default;

ChainDescription PipelineReplayer::describe() const {
  ChainDescription chain = describe_chain(state_->trainer, state_->facts.item_bytes);
  chain.worker_search = state_->options.worker_search;
  chain.keeps_queues = state_->runner.kept().fit();
  state_->device.complete(chain);
  return chain;
}

bool PipelineReplayer::supports(const Arm& arm) const {
  if (!state_->can_run(arm)) return false;
  return arm.kind != ArmKind::unseen || state_->runner.has_unseen(state_->item_bytes(arm.boundary));
}

CacheFacts PipelineReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  s.round_step = 0;
  s.longest_block = 1;
  const ToolCost cost =
      measure_tool_cost(*s.trainer.device, s.trainer.pipeline, s.workers, kCostSeconds, stop);
  s.runner.kept().drop();
  CacheFacts filled = s.cache.fill(s.trainer.loader, budget, stop);
  filled.floor_seconds_per_sample = cost.seconds_per_sample;
  filled.floor_seconds_per_batch = cost.seconds_per_batch;
  return s.caches_filled(std::move(filled));
}

std::optional<CacheFacts> PipelineReplayer::refill(std::uint64_t samples,
                                                   const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  if (!s.cache.filled()) throw Error(ErrorKind::internal, "refill() before prepare()");
  s.runner.kept().drop();
  std::optional<CacheFacts> facts = s.cache.refill(s.trainer.loader, samples, stop);
  if (!facts) return std::nullopt;
  facts->floor_seconds_per_sample = s.facts.floor_seconds_per_sample;
  facts->floor_seconds_per_batch = s.facts.floor_seconds_per_batch;
  return s.caches_filled(std::move(*facts));
}

bool PipelineReplayer::freshen(std::uint64_t samples, const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  if (!s.cache.filled()) throw Error(ErrorKind::internal, "freshen() before prepare()");
  s.runner.kept().drop_views();
  s.cache.freshen(s.trainer.loader, samples, stop);
  s.runner.caches_freshened();
  s.guard.freshened();
  if (s.options.io == IoMode::warm) s.runner.reading().caches_filled(s.trainer.pipeline);
  return true;
}

void PipelineReplayer::begin_round() {
  State& s = *state_;
  s.steps.restore_weights();
  // If blocks are as long as a period of the steps or the data, every round would begin at the same
  // place without this.
  RandomStream random({.epoch = s.rounds, .stage = hash_name("first batch of a round")});
  s.round_step += std::exchange(s.longest_block, 1) + random.below(kMaxSkipped);
  s.order.reserve(random.below(kMaxUnread));
  ++s.rounds;
  s.guard.begin_round();
}

BlockResult PipelineReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  const FlushDenormals flush;
  State& s = *state_;
  const Arm& arm = request.arm;
  if (!s.can_run(arm)) {
    throw Error(ErrorKind::usage, "this replayer cannot run " + to_text(arm));
  }
  if (!s.cache.filled() && needs_cache(arm, s.options.io)) {
    throw Error(ErrorKind::internal, "run() before prepare()");
  }
  Trainer& trainer = s.trainer_of(arm);
  const int warmup = std::max(request.warmup_steps, 1);
  const int timed = std::max(request.steps, 1);
  s.longest_block = std::max(s.longest_block, static_cast<std::uint64_t>(warmup + timed));
  const BlockSteps steps{warmup,
                         timed,
                         s.round_step,
                         arm.observed,
                         std::max(request.groups, 1),
                         request.max_seconds,
                         s.observer};
  s.steps.use(*trainer.step);
  if (replays(arm)) s.guard.before_replay(static_cast<std::size_t>(arm.boundary));
  BlockResult result;
  const ProfilerRange range(to_text(arm).c_str());
  s.watch.arm();
  try {
    const double bytes = arm.kind == ArmKind::unseen ? s.item_bytes(arm.boundary) : 0;
    result = s.runner.run(trainer, {arm, steps, bytes, stop, s.recorder});
  } catch (...) {
    s.watch.disarm();
    throw;
  }
  result.device = s.device.read();
  result.clock_mhz = read_clock_mhz("", s.cpus);
  result.is_void = s.watch.disarm();
  if (replays(arm)) s.guard.after_replay(static_cast<std::size_t>(arm.boundary));
  return result;
}

std::optional<StorageCounts> PipelineReplayer::count_storage(const StorageRequest& request,
                                                             const std::stop_token& stop) {
  const FlushDenormals flush;
  Trainer& trainer = state_->trainer;
  return count_reads(trainer.pipeline, trainer.loader, state_->order, request, stop);
}

double PipelineReplayer::clock() const { return monotonic_seconds(); }

void PipelineReplayer::observe(LoopObserver* observer) noexcept { state_->observer = observer; }

void PipelineReplayer::record(LoadRecorder* recorder) noexcept { state_->recorder = recorder; }

}  // namespace cachebisect

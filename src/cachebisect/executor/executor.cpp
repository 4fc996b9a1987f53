#include "cachebisect/executor/executor.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <pthread.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/executor/sample_loader.hpp"
#include "cachebisect/executor/slot_ring.hpp"

namespace cachebisect {
namespace {

std::int64_t default_grain(std::int64_t batch, int workers) {
  constexpr std::int64_t kLargest = 32;
  const std::int64_t share = batch / 2 / std::max(workers, 1);
  return std::clamp<std::int64_t>(share, 1, kLargest);
}

/// True where all that a worker does is planted, so that the executor's own cost can be taken from
/// it. The training thread, as the worker, trains as well: only on the emulated device at no cost.
bool all_planted(const Pipeline& pipeline, const Device& device, int workers) {
  const auto& stages = pipeline.stages();
  const auto collate = static_cast<std::ptrdiff_t>(pipeline.collate_position());
  return pipeline.copy_position() == pipeline.collate_position() + 1 &&
         std::all_of(stages.begin(), stages.begin() + collate,
                     [](const ChainStage& stage) { return stage.traits.planted; }) &&
         (workers > 0 || device.kind() == DeviceKind::emulated);
}

const ExecutorOptions& checked(const ExecutorOptions& options) {
  if (options.workers < 0 || options.prefetch < 0 || (options.grain && *options.grain < 1)) {
    throw Error(ErrorKind::usage, "an executor of " + std::to_string(options.workers) +
                                      " workers and prefetch " + std::to_string(options.prefetch) +
                                      "; both must be 0 or more, and the grain 1 or more");
  }
  if (!(options.observation_budget > 0)) {
    throw Error(ErrorKind::usage, "an executor's observation budget of " +
                                      std::to_string(options.observation_budget) +
                                      "; it must be above 0");
  }
  return options;
}

}  // namespace

struct Executor::State {
  State(const Pipeline& chain, Device& target, const ExecutorOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The training thread's.
  void start(const LoadPlan& plan);
  ReadyBatch next(const std::stop_token& stop);
  ReadyBatch take();
  void load_inline(const std::stop_token& stop);
  void wait_ready(const std::stop_token& stop);
  void halt();
  void stop_workers() noexcept;
  void start_threads();

  // The workers'.
  void live(std::size_t number);
  void load_until_stopped(SampleLoader& loader);
  void load_grain(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch,
                  std::int64_t number) const;
  void fail(const std::exception_ptr& what) noexcept;

  const Pipeline& pipeline;
  Device& device;
  const int workers;
  const std::int64_t grain;
  const std::int64_t grains;  // a batch
  const Sampler sampler;
  const std::vector<RowLayout> layouts;
  SlotRing ring;
  SkipLedger ledger;
  std::vector<std::unique_ptr<SampleLoader>> loaders;

  LoadProgram program;
  bool running = false;
  std::uint64_t sequence = 0;  // of the next batch
  Gauge<double> starved;

  alignas(64) std::atomic<std::uint64_t> claim{0};  // grains, in the order of batches
  alignas(64) std::atomic<bool> stopping{false};
  alignas(64) std::atomic<std::uint32_t> run{0};  // counts starts; parked workers wait on it
  std::atomic<std::uint32_t> active{0};
  std::atomic<bool> quitting{false};
  std::atomic<bool> failed{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

Executor::State::State(const Pipeline& chain, Device& target, const ExecutorOptions& options)
    : pipeline(chain),
      device(target),
      workers(checked(options).workers),
      grain(options.grain ? *options.grain : default_grain(chain.batch_size(), options.workers)),
      grains((chain.batch_size() + grain - 1) / grain),
      sampler(chain.samples(), chain.spec().seed, chain.spec().shuffle),
      layouts(row_layouts(chain)),
      ring(static_cast<std::size_t>(options.workers + options.prefetch + 1), chain,
           target.slot_memory(options.pinned)) {
  LoaderTraits traits{all_planted(chain, target, workers), measure_probe_clocks(),
                      options.observation_budget};
  for (; traits.number < static_cast<std::uint64_t>(std::max(workers, 1)); ++traits.number) {
    loaders.push_back(std::make_unique<SampleLoader>(pipeline, layouts, ledger, traits));
  }
}

Executor::State::~State() {
  try {
    halt();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a broken device is not to keep threads alive
  }
  quitting = true;
  run.fetch_add(1);
  run.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Executor::State::start(const LoadPlan& plan) {
  if (running) throw Error(ErrorKind::internal, "the executor was started twice without halt()");
  program = LoadProgram(pipeline, sampler, plan);
  const bool by_batch = program.origin() == LoadProgram::Origin::cached_batches;
  ring.reset(by_batch ? 1 : static_cast<std::int32_t>(grains));
  for (const auto& loader : loaders) loader->begin_run(program);
  ledger.begin_run();
  starved.clear();
  sequence = 0;
  claim = 0;
  stopping = false;
  failed = false;
  failure = nullptr;
  running = true;
  if (workers == 0 || program.by_pointer()) return;
  start_threads();
  active = static_cast<std::uint32_t>(workers);
  run.fetch_add(1);
  run.notify_all();
}

void Executor::State::start_threads() {
  threads.reserve(static_cast<std::size_t>(workers));
  while (threads.size() < static_cast<std::size_t>(workers)) {
    const std::size_t number = threads.size();
    try {
      threads.emplace_back([this, number] { live(number); });
    } catch (const std::system_error& error) {
      running = false;
      throw Error(ErrorKind::usage, "worker " + std::to_string(number + 1) + " of " +
                                        std::to_string(workers) + " could not be started (" +
                                        error.what() + "); use fewer workers");
    }
    const std::string name = "worker-" + std::to_string(number);
    pthread_setname_np(threads.back().native_handle(), name.c_str());
  }
}

void Executor::State::live(std::size_t number) {
  const FlushDenormals flush;
  std::uint32_t seen = 0;
  for (;;) {
    run.wait(seen);
    seen = run.load();
    if (quitting) return;
    try {
      load_until_stopped(*loaders[number]);
    } catch (...) {
      fail(std::current_exception());
    }
    if (active.fetch_sub(1) == 1) active.notify_all();
  }
}

void Executor::State::load_until_stopped(SampleLoader& loader) {
  const bool by_batch = program.origin() == LoadProgram::Origin::cached_batches;
  const auto per_batch = static_cast<std::uint64_t>(by_batch ? 1 : grains);
  while (!stopping.load(std::memory_order_relaxed)) {
    const std::uint64_t ticket = claim.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t batch = ticket / per_batch;
    double waited = 0;
    BatchSlot* slot = ring.acquire(batch, device, waited);
    if (waited > 0) loader.add_blocked(waited);
    if (slot == nullptr) return;
    if (!by_batch) {
      load_grain(loader, *slot, batch, static_cast<std::int64_t>(ticket % per_batch));
      if (stopping.load(std::memory_order_relaxed)) return;
    }
    if (slot->remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    loader.finish(*slot, batch, program.range(batch).size);
    ring.publish(batch);
  }
}

void Executor::State::load_grain(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch,
                                 std::int64_t number) const {
  const BatchRange range = program.range(batch);
  const std::int64_t begin = number * grain;
  const std::int64_t end = std::min(begin + grain, range.size);
  if (begin >= end) return;
  std::uint64_t position = range.first_position + static_cast<std::uint64_t>(begin);
  LoadCursor at = program.cursor(position);
  for (std::int64_t row = begin; row < end; ++row) {
    if (stopping.load(std::memory_order_relaxed)) return;
    loader.load(slot, row, at, position);
    at.advance();
    ++position;
  }
  loader.count(end - begin);
}

void Executor::State::fail(const std::exception_ptr& what) noexcept {
  {
    const std::scoped_lock lock(failure_mutex);
    if (!failure) failure = what;
    failed = true;
  }
  stop_workers();
}

void Executor::State::stop_workers() noexcept {
  stopping = true;
  ring.stop();
}

ReadyBatch Executor::State::next(const std::stop_token& stop) {
  if (!running) throw Error(ErrorKind::internal, "next() of an executor that was not started");
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  if (program.by_pointer()) {
    const std::uint64_t number = sequence++;
    return {&program.cached_batch(number), number, -1};
  }
  if (workers == 0) {
    load_inline(stop);
  } else if (failed || !ring.is_ready(sequence)) {
    wait_ready(stop);
  }
  return take();
}

ReadyBatch Executor::State::take() {
  const std::uint64_t number = sequence++;
  return {ring.slot(number).ready, number, static_cast<int>(number % ring.size())};
}

void Executor::State::load_inline(const std::stop_token& stop) {
  const FlushDenormals flush;
  const double began = monotonic_seconds();
  const std::stop_callback interrupt(stop, [this] { stop_workers(); });
  BatchSlot* slot = ring.try_acquire(sequence, device);
  if (slot == nullptr) {
    if (stopping) throw Error(ErrorKind::interrupted, "stopped");
    throw Error(ErrorKind::internal, "no slot is free: release batches before asking for more");
  }
  SampleLoader& loader = *loaders.front();
  if (program.origin() != LoadProgram::Origin::cached_batches) {
    for (std::int64_t number = 0; number < grains; ++number) {
      load_grain(loader, *slot, sequence, number);
    }
  }
  if (stopping) throw Error(ErrorKind::interrupted, "stopped");
  loader.finish(*slot, sequence, program.range(sequence).size);
  ring.publish(sequence);
  starved.add(monotonic_seconds() - began);
}

void Executor::State::wait_ready(const std::stop_token& stop) {
  const double began = monotonic_seconds();
  const std::stop_callback wake(stop, [this] { ring.ring_bell(); });
  for (;;) {
    const std::uint32_t bell = ring.bell();
    if (failed) {
      const std::scoped_lock lock(failure_mutex);
      std::rethrow_exception(failure);
    }
    if (ring.is_ready(sequence)) break;
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
    ring.wait_bell(bell);
  }
  starved.add(monotonic_seconds() - began);
}

void Executor::State::halt() {
  if (!running) return;
  running = false;
  stop_workers();
  for (std::uint32_t left = active.load(); left != 0; left = active.load()) active.wait(left);
  // A device without data reads no slot, however late its copies end.
  if (device.has_data()) ring.drain(device);
}

Executor::Executor(const Pipeline& pipeline, Device& device, const ExecutorOptions& options)
    : state_(std::make_unique<State>(pipeline, device, options)) {}

Executor::~Executor() = default;

void Executor::start(const LoadPlan& plan) { state_->start(plan); }

ReadyBatch Executor::next(const std::stop_token& stop) { return state_->next(stop); }

ReadyBatch Executor::try_next() {
  State& s = *state_;
  if (s.failed || s.program.by_pointer()) return s.next({});
  if (!s.running || s.workers == 0 || !s.ring.is_ready(s.sequence)) return {};
  return s.take();
}

void Executor::release(const ReadyBatch& batch, const Event* free_after) {
  if (batch.slot >= 0 && state_->running) state_->ring.release(batch.sequence, free_after);
}

void Executor::rested(double seconds) {
  if (state_->workers == 0) state_->loaders.front()->rested(seconds);
}

void Executor::halt() { state_->halt(); }

LoadCounters Executor::counters() const {
  LoadCounters counters;
  counters.stages.resize(state_->pipeline.stages().size());
  for (const auto& loader : state_->loaders) loader->add_to(counters);
  counters.starved_seconds = state_->starved.get();
  state_->ledger.report(counters.skipped, counters.first_skipped);
  return counters;
}

std::optional<int> Executor::ready() const noexcept {
  const State& s = *state_;
  if (!s.running || s.workers == 0 || s.program.by_pointer()) return std::nullopt;
  return s.ring.ready_from(s.sequence);
}

int Executor::workers() const noexcept { return state_->workers; }

int Executor::slots() const noexcept { return static_cast<int>(state_->ring.size()); }

std::uint64_t Executor::epoch_length() const noexcept {
  return cachebisect::epoch_length(state_->pipeline);
}

std::size_t Executor::bytes_held() const {
  std::size_t bytes = state_->ring.capacity();
  for (const auto& loader : state_->loaders) bytes += loader->capacity();
  return bytes;
}

}  // namespace cachebisect

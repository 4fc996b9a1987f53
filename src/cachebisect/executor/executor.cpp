#include "cachebisect/executor/executor.hpp"

#include <atomic>
#include <exception>
#include <mutex>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/executor/batch_loader.hpp"
#include "cachebisect/executor/planted_pace.hpp"
#include "cachebisect/executor/worker_threads.hpp"

namespace cachebisect {

struct Executor::State {
  State(const Pipeline& pipeline, Device& target, const ExecutorOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start(const LoadRequest& request);
  void resume(const LoadRequest& request);
  void go();
  ReadyBatch next(const std::stop_token& stop);
  ReadyBatch take();
  void load_inline(const std::stop_token& stop);
  void wait_ready(const std::stop_token& stop);
  void suspend();
  void halt();
  /// In worker `number`: loads until stopped, and keeps the first error of all workers.
  void work(std::size_t number) noexcept;

  Device& device;
  const int workers;
  const PlantedPace planted;
  WorkerPace pace;  ///< of the training thread, which loads if there are no workers
  BatchLoader loader;
  bool running = false;
  bool loading = false;  ///< the workers do
  bool suspended = false;
  std::uint64_t sequence = 0;  // of the next batch
  Gauge<double> starved;

  std::atomic<bool> failed{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  WorkerThreads threads;  // last: they use the members above
};

Executor::State::State(const Pipeline& pipeline, Device& target, const ExecutorOptions& options)
    : device(target),
      workers(options.workers),
      planted(pipeline, target, options.workers),
      loader(pipeline, target, options),
      threads(options.workers, [this](std::size_t number) { work(number); }) {}

Executor::State::~State() {
  try {
    halt();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a broken device must not keep threads alive
  }
}

void Executor::State::start(const LoadRequest& request) {
  if (running) throw Error(ErrorKind::internal, "the executor was started twice without halt()");
  suspended = false;
  pace = planted.begun();
  loader.begin_run(request);
  sequence = 0;
  failed = false;
  failure = nullptr;
  starved.clear();
  running = true;
  go();
}

void Executor::State::resume(const LoadRequest& request) {
  if (!suspended) return start(request);
  suspended = false;
  pace = planted.begun();
  loader.go_on(request, sequence);
  starved.clear();
  running = true;
}

void Executor::State::go() {
  if (!running || loading) return;
  loading = true;
  if (workers > 0 && !loader.by_pointer()) threads.start();
}

void Executor::State::work(std::size_t number) noexcept {
  try {
    WorkerPace own = planted.begun();
    const PaceOfThread use(&own);
    loader.load_until_stopped(number);
  } catch (...) {
    {
      const std::scoped_lock lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      failed = true;
    }
    loader.stop();
  }
}

ReadyBatch Executor::State::next(const std::stop_token& stop) {
  if (!running) throw Error(ErrorKind::internal, "next() of an executor that was not started");
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  go();
  if (loader.by_pointer()) {
    const std::uint64_t number = sequence++;
    return {&loader.cached_batch(number), number, -1};
  }
  if (workers == 0) {
    load_inline(stop);
  } else if (failed || !loader.ring().is_ready(sequence)) {
    wait_ready(stop);
  }
  return take();
}

ReadyBatch Executor::State::take() {
  const SlotRing& ring = loader.ring();
  const std::uint64_t number = sequence++;
  return {ring.slot(number).ready, number, static_cast<int>(number % ring.size())};
}

void Executor::State::load_inline(const std::stop_token& stop) {
  const FlushDenormals flush;
  const PaceOfThread use(&pace);
  const double began = monotonic_seconds();
  const std::stop_callback interrupt(stop, [this] { loader.stop(); });
  loader.load_batch(sequence);
  starved.add(monotonic_seconds() - began);
}

void Executor::State::wait_ready(const std::stop_token& stop) {
  SlotRing& ring = loader.ring();
  const double began = monotonic_seconds();
  const std::stop_callback wake(stop, [&ring] { ring.ring_bell(); });
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

void Executor::State::suspend() {
  if (!running) return;
  running = false;
  loading = false;
  loader.pause();
  threads.wait();
  suspended = !failed;
  loader.ring().drain(device);
}

void Executor::State::halt() {
  suspended = false;
  if (!running) return;
  running = false;
  loading = false;
  loader.stop();
  threads.wait();
  // A device without data reads no slot, however late its copies end.
  if (device.has_data()) loader.ring().drain(device);
}

Executor::Executor(const Pipeline& pipeline, Device& device, const ExecutorOptions& options)
    : state_(std::make_unique<State>(pipeline, device, options)) {}

Executor::~Executor() = default;

void Executor::start(const LoadRequest& request) { state_->start(request); }

void Executor::resume(const LoadRequest& request) { state_->resume(request); }

ReadyBatch Executor::next(const std::stop_token& stop) { return state_->next(stop); }

ReadyBatch Executor::try_next() {
  State& s = *state_;
  if (s.failed || s.loader.by_pointer()) return s.next({});
  if (!s.running || s.workers == 0 || !s.loader.ring().is_ready(s.sequence)) return {};
  return s.take();
}

void Executor::release(const ReadyBatch& batch, const Event* free_after) {
  if (batch.slot >= 0 && state_->running) state_->loader.ring().release(batch.sequence, free_after);
}

void Executor::rested(double seconds) {
  if (state_->workers == 0) state_->pace.rested(seconds);
}

bool Executor::knows_pauses() const noexcept { return state_->loader.knows_pauses(); }

std::uint64_t Executor::loaded_batches() const noexcept {
  return state_->loader.loaded_batches(state_->sequence);
}

void Executor::go() { state_->go(); }

bool Executor::is_loading() const noexcept { return state_->loading; }

bool Executor::is_suspended() const noexcept { return state_->suspended; }

void Executor::suspend() { state_->suspend(); }

void Executor::halt() { state_->halt(); }

LoadCounters Executor::counters() const {
  LoadCounters counters = state_->loader.counters();
  counters.starved_seconds = state_->starved.get();
  return counters;
}

std::optional<int> Executor::ready() const noexcept {
  const State& s = *state_;
  if (!s.running || s.workers == 0 || s.loader.by_pointer()) return std::nullopt;
  return s.loader.ring().ready_from(s.sequence);
}

int Executor::workers() const noexcept { return state_->workers; }

int Executor::slots() const noexcept { return static_cast<int>(state_->loader.ring().size()); }

std::size_t Executor::bytes_held() const { return state_->loader.capacity(); }

}  // namespace cachebisect

#include "cachebisect/simulate/event_ring.hpp"

#include <algorithm>
#include <limits>

#include "cachebisect/simulate/simulated_cores.hpp"
#include "cachebisect/simulate/simulated_device.hpp"

namespace cachebisect {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Worker {
  enum class Phase { claims, serves, works, collates };
  SimulatedCores::Thread thread = 0;
  Phase phase = Phase::claims;
  std::int64_t position = 0;  ///< sample in work; claim [position, end)
  std::int64_t end = 0;
  std::size_t stage = 0;
};

struct Trainer {
  enum class Phase { wants_batch, wants_buffer, waits_for_copy, computes };
  SimulatedCores::Thread thread = 0;
  Phase phase = Phase::wants_batch;
  double asked = 0;
  double copied = 0;
};

class EventRing {
 public:
  EventRing(const SimulatedRing& ring, const RingRequest& request)
      : ring_(ring),
        chain_(ring.chain()),
        request_(request),
        device_(chain_, request),
        slots_(chain_.workers + chain_.ring_prefetch + 1),
        grain_(std::clamp<std::int64_t>(chain_.batch_size / (2 * chain_.workers), 1, 32)),
        cores_(static_cast<std::size_t>(chain_.workers) + 1, chain_.cores,
               static_cast<std::size_t>(chain_.boundaries())),
        workers_(static_cast<std::size_t>(chain_.workers)) {
    for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].thread = i;
    trainer_.thread = workers_.size();
    const auto most = static_cast<std::size_t>(request.steps + slots_ + 2 * chain_.workers + 2);
    remaining_.assign(most, chain_.batch_size);
    slot_free_.assign(most, kNever);
    complete_.assign(most, 0);
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
  }

  /// `search`: ends the run where its state recurs; may be null.
  RingRun run(CycleSearch* search) {
    const auto steps = static_cast<std::size_t>(request_.steps);
    for (auto& worker : workers_) resume(worker);
    resume(trainer_);
    while (device_.step_ends().size() < steps) {
      cores_.pass_time();
      for (auto& worker : workers_) {
        if (cores_.is_due(worker.thread)) resume(worker);
      }
      const std::size_t before = device_.step_ends().size();
      if (cores_.is_due(trainer_.thread)) resume(trainer_);
      if (search != nullptr && device_.step_ends().size() > before && recurs(*search)) break;
    }
    result_.step_ends = device_.step_ends();
    result_.cpu_seconds = cores_.cpu_seconds();
    for (std::size_t stage = 0; stage < result_.stages.size(); ++stage) {
      result_.stages[stage].busy_seconds = cores_.busy_seconds(stage);
      result_.stages[stage].cpu_seconds = cores_.cpu_seconds(stage);
    }
    auto& copy = result_.stages.back();
    copy.busy_seconds = device_.copy_busy_seconds();
    copy.samples = device_.copies() * static_cast<std::uint64_t>(chain_.batch_size);
    if (asked_ > 0) result_.ready_batches = ready_sum_ / static_cast<double>(asked_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool recurs(CycleSearch& search) {
    append_state(search.next());
    const auto cycle = search.recurs(cores_.now());
    result_.cycle_steps = cycle.value_or(0);
    return cycle.has_value();
  }

  /// All that decides what happens next; batches and samples are counted from the next one that
  /// the training thread takes.
  void append_state(RingState& state) const {
    cores_.append_state(state);
    device_.append_state(cores_.now(), state);
    const std::int64_t first = static_cast<std::int64_t>(consumed_) * chain_.batch_size;
    for (const Worker& worker : workers_) {
      state.add_count(static_cast<std::int64_t>(worker.phase));
      state.add_count(worker.position - first);
      state.add_count(worker.end - first);
      state.add_count(static_cast<std::int64_t>(worker.stage));
    }
    state.add_count(static_cast<std::int64_t>(trainer_.phase));
    state.add_seconds(trainer_.copied - cores_.now());
    state.add_future(lock_free_ - cores_.now());
    state.add_count(next_ - first);
    if (!ring_.constant()) {
      state.add_count(first % static_cast<std::int64_t>(JitterSequence::kPeriod));
    }
    const auto slots = static_cast<std::size_t>(slots_);
    for (std::size_t batch = consumed_; batch < consumed_ + slots; ++batch) {
      state.add_count(remaining_[batch]);
      state.add_count(complete_[batch]);
      if (batch >= slots) state.add_future(slot_free_[batch - slots] - cores_.now());
    }
  }

  /// Carries a worker on until it has something to do that takes time.
  void resume(Worker& worker) {
    for (;;) {
      switch (worker.phase) {
        case Worker::Phase::claims:
          if (!claim(worker)) return;
          worker.phase = Worker::Phase::serves;
          if (request_.boundary > 0 && chain_.serve_seconds > 0) {
            const auto count = static_cast<double>(worker.end - worker.position);
            cores_.compute(worker.thread, chain_.serve_seconds * count);
            return;
          }
          break;
        case Worker::Phase::serves:
          worker.phase = Worker::Phase::works;
          worker.stage = static_cast<std::size_t>(request_.boundary);
          break;
        case Worker::Phase::works:
          if (work(worker)) return;
          break;
        case Worker::Phase::collates:
          complete(worker.position / chain_.batch_size);
          next_sample(worker);
          break;
      }
    }
  }

  /// The next samples and, where one is free, the slot that they go to.
  bool claim(Worker& worker) {
    if (worker.position == worker.end) {
      const std::int64_t batch = next_ / chain_.batch_size;
      worker.position = next_;
      worker.end = std::min(next_ + grain_, (batch + 1) * chain_.batch_size);
      next_ = worker.end;
    }
    const std::int64_t before = worker.position / chain_.batch_size - slots_;
    if (before < 0) return true;
    const double free = slot_free_[static_cast<std::size_t>(before)];
    if (free <= cores_.now()) return true;
    cores_.sleep(worker.thread, free);
    return false;
  }

  /// True when the worker's next stage takes time.
  bool work(Worker& worker) {
    while (worker.stage < chain_.stages.size()) {
      const std::size_t stage = worker.stage++;
      const double seconds = ring_.cost(stage, request_, worker.position);
      ++result_.stages[stage].samples;
      if (seconds <= 0) continue;
      start(worker.thread, stage, seconds);
      return true;
    }
    const auto batch = static_cast<std::size_t>(worker.position / chain_.batch_size);
    if (--remaining_[batch] > 0) {
      next_sample(worker);
      return false;
    }
    worker.phase = Worker::Phase::collates;
    const auto collate = chain_.stages.size();
    result_.stages[collate].samples += static_cast<std::uint64_t>(chain_.batch_size);
    const double seconds = ring_.collate_cost(request_);
    if (seconds > 0) cores_.compute(worker.thread, seconds, collate);
    return seconds > 0;
  }

  void start(SimulatedCores::Thread thread, std::size_t stage, double seconds) {
    switch (chain_.stages[stage].kind) {
      case CostKind::cpu:
      case CostKind::payload:
        cores_.compute(thread, seconds, stage);
        return;
      case CostKind::memory:
        cores_.stream(thread, seconds, stage);
        return;
      case CostKind::wait:
        cores_.sleep(thread, cores_.now() + seconds, stage);
        return;
      case CostKind::lock:
        lock_free_ = std::max(cores_.now(), lock_free_) + seconds;
        result_.stages[stage].serial_seconds += seconds;
        cores_.sleep(thread, lock_free_, stage);
        return;
    }
  }

  void next_sample(Worker& worker) const {
    ++worker.position;
    worker.stage = static_cast<std::size_t>(request_.boundary);
    worker.phase = worker.position == worker.end ? Worker::Phase::claims : Worker::Phase::works;
  }

  void complete(std::int64_t batch) {
    complete_[static_cast<std::size_t>(batch)] = 1;
    ++completed_;
    if (cores_.is_parked(trainer_.thread)) cores_.sleep(trainer_.thread, cores_.now());
  }

  [[nodiscard]] bool batch_is_ready() const { return complete_[consumed_] != 0; }

  void resume(Trainer& trainer) {
    for (;;) {
      switch (trainer.phase) {
        case Trainer::Phase::wants_batch:
          if (!request_.shadow && !batch_is_ready()) {
            cores_.park(trainer.thread);
            return;
          }
          starved_ += cores_.now() - trainer.asked;
          trainer.phase = Trainer::Phase::wants_buffer;
          if (const double free = device_.may_submit(cores_.now()); free > cores_.now()) {
            cores_.sleep(trainer.thread, free);
            return;
          }
          break;
        case Trainer::Phase::wants_buffer:
          submit(trainer);
          trainer.phase = Trainer::Phase::waits_for_copy;
          if (!chain_.copy_non_blocking && trainer.copied > cores_.now()) {
            cores_.sleep(trainer.thread, trainer.copied);
            return;
          }
          break;
        case Trainer::Phase::waits_for_copy:
          trainer.phase = Trainer::Phase::computes;
          began_ = cores_.now();
          if (chain_.trainer_seconds > 0) {
            cores_.compute(trainer.thread, chain_.trainer_seconds);
            return;
          }
          break;
        case Trainer::Phase::computes:
          finish_step(trainer);
          if (device_.step_ends().size() == static_cast<std::size_t>(request_.steps)) return;
          break;
      }
    }
  }

  /// Hands a batch to the device: the one that is due, or, in a shadow, one that is finished.
  void submit(Trainer& trainer) {
    trainer.copied = cores_.now();
    if (request_.shadow && !batch_is_ready()) return;
    const double copied = device_.copy(cores_.now());
    if (!request_.shadow || !chain_.copy_overlaps()) trainer.copied = copied;
    if (!chain_.device_is_host || request_.shadow) free_slot(copied);
  }

  void free_slot(double free) {
    slot_free_[consumed_] = free;
    const auto waiting = static_cast<std::int64_t>(consumed_) + slots_;
    ++consumed_;
    for (auto& worker : workers_) {
      const bool parked = cores_.is_parked(worker.thread) && worker.position < worker.end;
      if (parked && worker.position / chain_.batch_size == waiting) {
        cores_.sleep(worker.thread, std::max(cores_.now(), free));
      }
    }
  }

  void finish_step(Trainer& trainer) {
    const double end = device_.step(trainer.copied, cores_.now());
    if (chain_.device_is_host && !request_.shadow) free_slot(end);
    busy_ += cores_.now() - began_;
    result_.starved_by.push_back(starved_);
    result_.trainer_by.push_back(busy_);
    trainer.phase = Trainer::Phase::wants_batch;
    trainer.asked = cores_.now();
    ready_sum_ += static_cast<double>(completed_) - static_cast<double>(consumed_);
    ++asked_;
  }

  const SimulatedRing& ring_;
  const SimulatedChain& chain_;
  const RingRequest& request_;
  SimulatedDevice device_;
  int slots_;
  std::int64_t grain_;
  SimulatedCores cores_;
  std::vector<Worker> workers_;
  Trainer trainer_;
  std::vector<std::int64_t> remaining_;  ///< by batch: samples to come
  std::vector<double> slot_free_;        ///< by batch: when its slot may be filled again
  std::vector<char> complete_;           ///< by batch
  std::int64_t next_ = 0;
  std::size_t completed_ = 0;
  std::size_t consumed_ = 0;
  double lock_free_ = 0;
  double starved_ = 0;
  double busy_ = 0;
  double began_ = 0;
  double ready_sum_ = 0;
  std::int64_t asked_ = 0;
  RingRun result_;
};

}  // namespace

RingRun run_by_events(const SimulatedRing& ring, const RingRequest& request) {
  return EventRing(ring, request).run(nullptr);
}

RingRun run_to_cycle(const SimulatedRing& ring, const RingRequest& request) {
  CycleSearch search;
  return EventRing(ring, request).run(&search);
}

}  // namespace cachebisect

#include "cachebisect/simulate/worker_ring.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cachebisect/simulate/ring_slots.hpp"
#include "cachebisect/simulate/simulated_cores.hpp"
#include "cachebisect/simulate/simulated_device.hpp"

namespace cachebisect {
namespace {

struct Worker {
  enum class Phase { claims, serves, works, collates };
  SimulatedCores::Thread thread = 0;
  Phase phase = Phase::claims;
  std::int64_t position = 0;  ///< sample in work; the rest of the claim is [position, end)
  std::int64_t end = 0;
  std::size_t stage = 0;
};

struct Trainer {
  enum class Phase { wants_batch, wants_buffer, waits_for_copy, computes };
  SimulatedCores::Thread thread = 0;
  Phase phase = Phase::wants_batch;
  double asked = 0;
  double copied = 0;
  double began = 0;
};

class WorkerRing {
 public:
  WorkerRing(const StageCosts& costs, const RingRequest& request)
      : costs_(costs),
        chain_(costs.chain()),
        request_(request),
        device_(chain_, request),
        slots_(chain_, request.steps),
        cores_(static_cast<std::size_t>(chain_.workers) + 1, chain_.cores,
               static_cast<std::size_t>(chain_.boundaries())),
        workers_(static_cast<std::size_t>(chain_.workers)),
        lock_free_(chain_.stages.size()) {
    for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].thread = i;
    trainer_.thread = workers_.size();
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
  }

  RingRun run(CycleSearch* search) {
    for (auto& worker : workers_) resume(worker);
    resume(trainer_);
    while (!done()) {
      cores_.advance();
      for (auto& worker : workers_) {
        if (cores_.is_due(worker.thread)) resume(worker);
      }
      const std::size_t steps_before = device_.steps();
      if (cores_.is_due(trainer_.thread)) resume(trainer_);
      if (search != nullptr && device_.steps() > steps_before && recurs(*search)) break;
    }
    return take_result();
  }

 private:
  [[nodiscard]] bool done() const {
    return device_.steps() >= static_cast<std::size_t>(request_.steps);
  }

  RingRun take_result() {
    for (std::size_t stage = 0; stage < result_.stages.size(); ++stage) {
      result_.stages[stage].busy_seconds = cores_.busy_seconds(stage);
      result_.stages[stage].cpu_seconds = cores_.cpu_seconds(stage);
    }
    device_.append_results(result_);
    const std::size_t asked = result_.starved_by.size();
    if (asked > 0) result_.ready_batches = ready_sum_ / static_cast<double>(asked);
    return std::move(result_);
  }

  [[nodiscard]] bool recurs(CycleSearch& search) {
    append_state(search.next());
    const auto cycle = search.recurs(device_.steps(), cores_.now());
    result_.cycle_steps = cycle.value_or(0);
    return cycle.has_value();
  }

  /// Everything that decides what happens next; samples are counted from the first one of the
  /// batch that the training thread takes next.
  void append_state(RingState& state) const {
    cores_.append_state(state);
    device_.append_state(cores_.now(), state);
    slots_.append_state(cores_.now(), state);
    const std::int64_t first = slots_.first_sample();
    for (const Worker& worker : workers_) {
      state.add_count(static_cast<std::int64_t>(worker.phase));
      state.add_count(worker.position - first);
      state.add_count(worker.end - first);
      state.add_count(static_cast<std::int64_t>(worker.stage));
    }
    state.add_count(static_cast<std::int64_t>(trainer_.phase));
    state.add_seconds(trainer_.copied - cores_.now());
    for (const double free : lock_free_) state.add_future(free - cores_.now());
    if (!costs_.constant()) {
      state.add_count(first % static_cast<std::int64_t>(JitterSequence::kPeriod));
    }
  }

  /// Carries a worker on to its next activity that takes time.
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
          complete(slots_.batch_of(worker.position));
          next_sample(worker);
          break;
      }
    }
  }

  /// Claims the next samples. False while the slot that they go to is not free.
  bool claim(Worker& worker) {
    if (worker.position == worker.end) {
      const RingSlots::Claim claimed = slots_.claim(worker.thread);
      worker.position = claimed.begin;
      worker.end = claimed.end;
    }
    const double free = slots_.free_at(slots_.batch_of(worker.position));
    if (free <= cores_.now()) return true;
    cores_.sleep(worker.thread, free);
    return false;
  }

  /// True if the worker's next stage takes time.
  bool work(Worker& worker) {
    while (worker.stage < chain_.stages.size()) {
      const std::size_t stage = worker.stage++;
      const double seconds = costs_.stage_seconds(stage, request_, worker.position);
      ++result_.stages[stage].samples;
      if (seconds <= 0) continue;
      start(worker.thread, stage, seconds);
      return true;
    }
    if (!slots_.finish_sample(slots_.batch_of(worker.position))) {
      next_sample(worker);
      return false;
    }
    worker.phase = Worker::Phase::collates;
    const auto collate = chain_.stages.size();
    result_.stages[collate].samples += static_cast<std::uint64_t>(chain_.batch_size);
    const double seconds = costs_.collate_seconds(request_);
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
        lock_free_[stage] = std::max(cores_.now(), lock_free_[stage]) + seconds;
        result_.stages[stage].serial_seconds += seconds;
        cores_.sleep(thread, lock_free_[stage], stage);
        return;
    }
  }

  void next_sample(Worker& worker) const {
    ++worker.position;
    worker.stage = static_cast<std::size_t>(request_.boundary);
    worker.phase = worker.position == worker.end ? Worker::Phase::claims : Worker::Phase::works;
  }

  void complete(std::size_t batch) {
    slots_.complete(batch);
    if (cores_.is_parked(trainer_.thread)) cores_.sleep(trainer_.thread, cores_.now());
  }

  /// Carries the training thread on to its next activity that takes time.
  void resume(Trainer& trainer) {
    while (!done()) {
      switch (trainer.phase) {
        case Trainer::Phase::wants_batch:
          if (!request_.shadow && !slots_.next_is_complete()) {
            cores_.park(trainer.thread);
            return;
          }
          starved_ += cores_.now() - trainer.asked;
          trainer.phase = Trainer::Phase::wants_buffer;
          if (sleeps_until(device_.may_submit(cores_.now()))) return;
          break;
        case Trainer::Phase::wants_buffer:
          submit(trainer);
          trainer.phase = Trainer::Phase::waits_for_copy;
          if (!chain_.copy_non_blocking && sleeps_until(trainer.copied)) return;
          break;
        case Trainer::Phase::waits_for_copy:
          trainer.phase = Trainer::Phase::computes;
          trainer.began = cores_.now();
          if (chain_.trainer_seconds > 0) {
            cores_.compute(trainer.thread, chain_.trainer_seconds);
            return;
          }
          break;
        case Trainer::Phase::computes:
          finish_step(trainer);
          break;
      }
    }
  }

  /// Puts the training thread to sleep if that time lies ahead.
  bool sleeps_until(double time) {
    if (time <= cores_.now()) return false;
    cores_.sleep(trainer_.thread, time);
    return true;
  }

  /// Hands a batch to the device: the next one, or, in a shadow, the next one if it is complete.
  void submit(Trainer& trainer) {
    trainer.copied = cores_.now();
    if (request_.shadow && !slots_.next_is_complete()) return;
    const double copied = device_.copy(cores_.now());
    if (!request_.shadow || !chain_.copy_overlaps()) trainer.copied = copied;
    if (!chain_.device_is_host || request_.shadow) take_batch(copied);
  }

  /// Takes the next batch from its slot and wakes the workers that wait for the slot.
  void take_batch(double slot_free) {
    const std::size_t next_there = slots_.take(slot_free);
    for (auto& worker : workers_) {
      const bool waits = cores_.is_parked(worker.thread) && worker.position < worker.end;
      if (waits && slots_.batch_of(worker.position) == next_there) {
        cores_.sleep(worker.thread, std::max(cores_.now(), slot_free));
      }
    }
  }

  void finish_step(Trainer& trainer) {
    const double end = device_.step(trainer.copied, cores_.now());
    if (chain_.device_is_host && !request_.shadow) take_batch(end);
    busy_ += cores_.now() - trainer.began;
    result_.starved_by.push_back(starved_);
    result_.trainer_by.push_back(busy_);
    result_.cpu_by.push_back(cores_.cpu_seconds());
    trainer.phase = Trainer::Phase::wants_batch;
    trainer.asked = cores_.now();
    ready_sum_ += static_cast<double>(slots_.ready());
  }

  const StageCosts& costs_;
  const SimulatedChain& chain_;
  const RingRequest& request_;
  SimulatedDevice device_;
  RingSlots slots_;
  SimulatedCores cores_;
  std::vector<Worker> workers_;
  Trainer trainer_;
  std::vector<double> lock_free_;  ///< by stage: when the last thread in its queue leaves its lock
  double starved_ = 0;
  double busy_ = 0;
  double ready_sum_ = 0;  ///< ready batches, over all times that the training thread asked
  RingRun result_;
};

}  // namespace

RingRun run_with_workers(const StageCosts& costs, const RingRequest& request, CycleSearch* search) {
  return WorkerRing(costs, request).run(search);
}

}  // namespace cachebisect

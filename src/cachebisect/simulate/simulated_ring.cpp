#include "cachebisect/simulate/simulated_ring.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cachebisect/base/random.hpp"
#include "cachebisect/simulate/event_ring.hpp"
#include "cachebisect/simulate/simulated_device.hpp"

namespace cachebisect {

namespace {

/// One run where no two threads compete for a core: the workers' and the trainer's clocks move on,
/// always the earliest worker first, so that those who share a lock or the memory meet it in order
/// of arrival.
class ClockRing {
 public:
  ClockRing(const SimulatedRing& ring, const RingRequest& request)
      : ring_(ring),
        chain_(ring.chain()),
        request_(request),
        device_(chain_, request),
        first_stage_(static_cast<std::size_t>(request.boundary)),
        slots_(chain_.workers + chain_.ring_prefetch + 1),
        slot_free_(static_cast<std::size_t>(request.steps), kUnknown) {
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
  }

  RingRun run() {
    if (request_.boundary >= chain_.collate_boundary() || request_.shadow) {
      for (int batch = 0; batch < request_.steps; ++batch) train(trainer_);
    } else if (chain_.workers == 0) {
      load_inline();
    } else {
      load_by_workers();
      count_ready();
    }
    result_.step_ends = device_.step_ends();
    auto& copy = result_.stages.back();
    copy.busy_seconds = device_.copy_busy_seconds();
    copy.samples = device_.copies() * static_cast<std::uint64_t>(chain_.batch_size);
    return std::move(result_);
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  struct Worker {
    double time = 0;
    bool parked = false;
    std::int64_t position = 0;  ///< sample in work; claim [position, end)
    std::int64_t end = 0;
    std::size_t stage = 0;  ///< next stage of that sample
  };

  [[nodiscard]] std::size_t steps_done() const { return device_.step_ends().size(); }
  [[nodiscard]] std::size_t steps() const { return static_cast<std::size_t>(request_.steps); }

  void train(double ready) {
    const auto batch = steps_done();
    asked_.push_back(trainer_);
    starved_ += std::max(0.0, ready - trainer_);
    trainer_ = device_.may_submit(std::max(trainer_, ready));
    const bool cached = request_.shadow;
    const double copied = cached ? trainer_ : device_.copy(trainer_);
    if (!chain_.copy_non_blocking) trainer_ = copied;
    if (chain_.trainer_seconds > 0) trainer_ = compute(trainer_, chain_.trainer_seconds);
    busy_ += chain_.trainer_seconds;
    const double end = device_.step(copied, trainer_);
    slot_free_[batch] = chain_.device_is_host ? end : copied;
    result_.starved_by.push_back(starved_);
    result_.trainer_by.push_back(busy_);
  }

  double compute(double time, double seconds) {
    result_.cpu_seconds += seconds;
    return time + seconds;
  }

  [[nodiscard]] bool shared(std::size_t stage) const {
    const CostKind kind = chain_.stages[stage].kind;
    return kind == CostKind::lock || kind == CostKind::memory;
  }

  /// When a stage that began at `time` is done with sample `position`.
  double work(std::size_t stage, std::int64_t position, double time) {
    const double seconds = ring_.cost(stage, request_, position);
    double end = time + seconds;
    auto& counters = result_.stages[stage];
    switch (chain_.stages[stage].kind) {
      case CostKind::cpu:
      case CostKind::payload:
        result_.cpu_seconds += seconds;
        counters.cpu_seconds += seconds;
        break;
      case CostKind::wait:
        break;
      case CostKind::lock:
        end = lock_free_ = std::max(time, lock_free_) + seconds;
        counters.serial_seconds += seconds;
        break;
      case CostKind::memory:
        end = memory_free_ = std::max(time, memory_free_) + seconds;
        result_.cpu_seconds += end - time;
        counters.cpu_seconds += end - time;
        break;
    }
    counters.busy_seconds += end - time;
    ++counters.samples;
    return end;
  }

  double collate(double time) {
    const double seconds = ring_.collate_cost(request_);
    auto& counters = result_.stages[chain_.stages.size()];
    counters.busy_seconds += seconds;
    counters.cpu_seconds += seconds;
    counters.samples += static_cast<std::uint64_t>(chain_.batch_size);
    return compute(time, seconds);
  }

  void load_inline() {
    for (int batch = 0; batch < request_.steps; ++batch) {
      double time = trainer_;
      for (std::int64_t row = 0; row < chain_.batch_size; ++row) {
        if (request_.boundary > 0) time = compute(time, chain_.serve_seconds);
        for (std::size_t stage = first_stage_; stage < chain_.stages.size(); ++stage) {
          time = work(stage, batch * chain_.batch_size + row, time);
        }
      }
      train(collate(time));
    }
  }

  void load_by_workers() {
    const std::int64_t total = std::int64_t{chain_.batch_size} * request_.steps;
    const std::int64_t grain =
        std::clamp<std::int64_t>(chain_.batch_size / (2 * chain_.workers), 1, 32);
    remaining_.assign(steps(), chain_.batch_size);
    ready_.assign(steps(), 0);
    workers_.assign(static_cast<std::size_t>(chain_.workers), {});
    while (steps_done() < steps()) {
      Worker* worker = nullptr;
      for (auto& candidate : workers_) {
        if (!candidate.parked && (worker == nullptr || candidate.time < worker->time)) {
          worker = &candidate;
        }
      }
      if (worker->position == worker->end && !claim(*worker, grain, total)) continue;
      advance(*worker);
    }
  }

  /// False where the worker now waits: for a slot, or for ever because all is claimed.
  bool claim(Worker& worker, std::int64_t grain, std::int64_t total) {
    if (next_ == total) {
      worker.parked = true;
      worker.time = kUnknown;
      return false;
    }
    const std::int64_t batch = next_ / chain_.batch_size;
    worker.position = next_;
    worker.end = std::min(next_ + grain, (batch + 1) * chain_.batch_size);
    worker.stage = first_stage_;
    next_ = worker.end;
    if (request_.boundary > 0) {
      worker.time = compute(
          worker.time, chain_.serve_seconds * static_cast<double>(worker.end - worker.position));
    }
    return enter_slot(worker, batch);
  }

  bool enter_slot(Worker& worker, std::int64_t batch) {
    if (batch < slots_) return true;
    const double free = slot_free_[static_cast<std::size_t>(batch - slots_)];
    worker.parked = free == kUnknown;
    if (!worker.parked) worker.time = std::max(worker.time, free);
    // A slot that frees later than others move must be entered in its turn.
    return false;
  }

  /// Runs the worker to its next shared section or to the end of its claim.
  void advance(Worker& worker) {
    bool first = true;
    while (worker.position < worker.end) {
      for (; worker.stage < chain_.stages.size(); ++worker.stage) {
        if (!first && shared(worker.stage)) return;
        worker.time = work(worker.stage, worker.position, worker.time);
        first = false;
      }
      finish_sample(worker);
    }
  }

  void finish_sample(Worker& worker) {
    const auto batch = static_cast<std::size_t>(worker.position / chain_.batch_size);
    ++worker.position;
    worker.stage = first_stage_;
    if (--remaining_[batch] == 0) worker.time = collate(std::max(ready_[batch], worker.time));
    ready_[batch] = std::max(ready_[batch], worker.time);
    while (steps_done() < steps() && remaining_[steps_done()] == 0) {
      const auto done = steps_done();
      train(ready_[done]);
      wake(static_cast<std::int64_t>(done) + slots_, slot_free_[done]);
    }
  }

  void wake(std::int64_t batch, double free) {
    for (auto& waiting : workers_) {
      if (waiting.parked && waiting.position < waiting.end &&
          waiting.position / chain_.batch_size == batch) {
        waiting.parked = false;
        waiting.time = std::max(waiting.time, free);
      }
    }
  }

  /// Batches that were ready when the training thread asked; known only once all are timed.
  void count_ready() {
    std::size_t complete = 0;
    double sum = 0;
    for (std::size_t batch = 0; batch < asked_.size(); ++batch) {
      complete = std::max(complete, batch);
      while (complete < ready_.size() && ready_[complete] <= asked_[batch]) ++complete;
      sum += static_cast<double>(complete - batch);
    }
    result_.ready_batches = sum / static_cast<double>(asked_.size());
  }

  const SimulatedRing& ring_;
  const SimulatedChain& chain_;
  const RingRequest& request_;
  SimulatedDevice device_;
  std::size_t first_stage_;
  int slots_;
  std::vector<double> slot_free_;  ///< by batch: when its slot may be filled again
  std::vector<std::int64_t> remaining_;
  std::vector<double> ready_;
  std::vector<double> asked_;  ///< by batch: when the training thread wanted it
  std::vector<Worker> workers_;
  std::int64_t next_ = 0;
  double trainer_ = 0;
  double starved_ = 0;
  double busy_ = 0;
  double lock_free_ = 0;
  double memory_free_ = 0;
  RingRun result_;
};

}  // namespace

SimulatedRing::SimulatedRing(SimulatedChain chain) : chain_(std::move(chain)) {
  (void)describe(chain_);
  for (const auto& stage : chain_.stages) {
    // As the synthetic stages do, so that each sample costs here what it costs there.
    jitter_.emplace_back(stage.jitter, 0);
    jitter_places_.push_back(hash_name(stage.name) >> 8);
    constant_ = constant_ && (stage.jitter.kind == Jitter::Kind::none || stage.jitter.cv <= 0);
  }
}

bool SimulatedRing::crowded() const noexcept {
  return chain_.workers + (chain_.trainer_seconds > 0 ? 1 : 0) > chain_.cores;
}

double SimulatedRing::collate_cost(const RingRequest& request) const noexcept {
  if (request.bypass == chain_.collate_boundary()) return 0;
  return chain_.collate_seconds * static_cast<double>(chain_.batch_size);
}

RingRun SimulatedRing::run(const RingRequest& request) const {
  const bool by_workers = chain_.workers > 0 && request.boundary < chain_.collate_boundary();
  if (by_workers && (crowded() || request.shadow)) return run_by_events(*this, request);
  return ClockRing(*this, request).run();
}

double SimulatedRing::seconds_per_sample(int boundary, int steps) const {
  const int warmup = std::max(1, steps / 2);
  const RingRequest request{.boundary = boundary, .steps = warmup + steps};
  const bool by_workers = chain_.workers > 0 && boundary < chain_.collate_boundary();
  const RingRun result = by_workers && crowded() ? run_to_cycle(*this, request) : run(request);
  const std::size_t timed =
      result.cycle_steps > 0 ? result.cycle_steps : static_cast<std::size_t>(steps);
  const auto& ends = result.step_ends;
  return (ends.back() - ends[ends.size() - 1 - timed]) /
         (static_cast<double>(timed) * static_cast<double>(chain_.batch_size));
}

}  // namespace cachebisect

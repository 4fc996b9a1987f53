#include "cachebisect/replay/simulated_ring.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// One run: the workers' and the trainer's clocks move on, always the earliest worker first, so
/// that those who share a lock, a core or the memory meet it in order of arrival.
class RingSimulation {
 public:
  RingSimulation(const SimulatedRing& ring, int boundary, std::uint64_t first_index, int steps)
      : ring_(ring),
        chain_(ring.chain()),
        boundary_(boundary),
        first_index_(first_index),
        steps_(steps),
        slots_(chain_.workers + chain_.ring_prefetch + 1),
        buffers_(std::max(3, chain_.copy_prefetch + 1)),
        core_free_(static_cast<std::size_t>(chain_.cores), 0.0),
        crowded_(chain_.workers + (chain_.trainer_seconds > 0 ? 1 : 0) > chain_.cores),
        slot_free_(static_cast<std::size_t>(steps), kUnknown) {
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
    result_.step_ends.reserve(static_cast<std::size_t>(steps));
  }

  RingRun run() {
    if (boundary_ >= chain_.collate_boundary()) {
      for (int batch = 0; batch < steps_; ++batch) train(0);
    } else if (chain_.workers == 0) {
      load_inline();
    } else {
      load_by_workers();
    }
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

  void train(double ready) {
    const auto batch = result_.step_ends.size();
    double submit = std::max(trainer_, ready);
    result_.starved_seconds += submit - trainer_;
    const auto buffers = static_cast<std::size_t>(buffers_);
    if (batch >= buffers) submit = std::max(submit, result_.step_ends[batch - buffers]);
    const double last_step = result_.step_ends.empty() ? 0 : result_.step_ends.back();
    double copied = submit;
    trainer_ = submit;
    if (boundary_ < chain_.boundaries() && !chain_.device_is_host) {
      const double after = chain_.copy_overlaps() ? copy_end_ : std::max(copy_end_, last_step);
      copied = std::max(submit, after) + chain_.copy_seconds();
      copy_end_ = copied;
      if (!chain_.copy_non_blocking) trainer_ = copied;
      result_.stages.back().busy_seconds += chain_.copy_seconds();
      result_.stages.back().samples += static_cast<std::uint64_t>(chain_.batch_size);
    }
    if (chain_.trainer_seconds > 0) trainer_ = compute(trainer_, chain_.trainer_seconds);
    const double end = std::max(std::max(copied, last_step) + chain_.step_seconds,
                                chain_.trainer_seconds > 0 ? trainer_ : 0);
    result_.step_ends.push_back(end);
    slot_free_[batch] = chain_.device_is_host ? end : copied;
  }

  /// CPU work of `seconds` that wants a core at `time`; when it ends.
  double compute(double time, double seconds) {
    result_.cpu_seconds += seconds;
    if (!crowded_) return time + seconds;
    auto& core = *std::min_element(core_free_.begin(), core_free_.end());
    core = std::max(core, time) + seconds;
    return core;
  }

  [[nodiscard]] bool shared(std::size_t stage) const {
    const CostKind kind = chain_.stages[stage].kind;
    return kind == CostKind::lock || kind == CostKind::memory ||
           (kind == CostKind::cpu && crowded_);
  }

  /// When a stage that began at `time` is done with sample `position`.
  double work(std::size_t stage, std::int64_t position, double time) {
    const double seconds = ring_.cost(stage, first_index_ + static_cast<std::uint64_t>(position));
    double end = time;
    auto& counters = result_.stages[stage];
    switch (chain_.stages[stage].kind) {
      case CostKind::cpu:
        end = compute(time, seconds);
        counters.cpu_seconds += seconds;
        break;
      case CostKind::wait:
        end = time + seconds;
        break;
      case CostKind::lock:
        end = std::max(time, lock_free_) + seconds;
        lock_free_ = end;
        break;
      case CostKind::memory:
        end = std::max(time, memory_free_) + seconds;
        memory_free_ = end;
        result_.cpu_seconds += end - time;
        counters.cpu_seconds += end - time;
        break;
      case CostKind::payload:
        break;
    }
    counters.busy_seconds += end - time;
    ++counters.samples;
    return end;
  }

  void load_inline() {
    for (int batch = 0; batch < steps_; ++batch) {
      for (std::int64_t row = 0; row < chain_.batch_size; ++row) {
        trainer_ = boundary_ > 0 ? compute(trainer_, chain_.serve_seconds) : trainer_;
        for (auto stage = static_cast<std::size_t>(boundary_); stage < chain_.stages.size();
             ++stage) {
          trainer_ = work(stage, batch * chain_.batch_size + row, trainer_);
        }
      }
      train(trainer_);
    }
  }

  void load_by_workers() {
    const std::int64_t total = std::int64_t{chain_.batch_size} * steps_;
    const std::int64_t grain =
        std::clamp<std::int64_t>(chain_.batch_size / (2 * chain_.workers), 1, 32);
    remaining_.assign(static_cast<std::size_t>(steps_), chain_.batch_size);
    ready_.assign(static_cast<std::size_t>(steps_), 0);
    workers_.assign(static_cast<std::size_t>(chain_.workers), {});
    while (result_.step_ends.size() < static_cast<std::size_t>(steps_)) {
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
    worker.stage = static_cast<std::size_t>(boundary_);
    next_ = worker.end;
    if (boundary_ > 0) {
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
    worker.stage = static_cast<std::size_t>(boundary_);
    ready_[batch] = std::max(ready_[batch], worker.time);
    --remaining_[batch];
    while (result_.step_ends.size() < remaining_.size() &&
           remaining_[result_.step_ends.size()] == 0) {
      const auto done = result_.step_ends.size();
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

  const SimulatedRing& ring_;
  const SimulatedChain& chain_;
  int boundary_;
  std::uint64_t first_index_;
  int steps_;
  int slots_;
  int buffers_;
  std::vector<double> core_free_;
  bool crowded_;
  std::vector<double> slot_free_;  ///< by batch: when its slot may be filled again
  std::vector<std::int64_t> remaining_;
  std::vector<double> ready_;
  std::vector<Worker> workers_;
  std::int64_t next_ = 0;
  double trainer_ = 0;
  double copy_end_ = 0;
  double lock_free_ = 0;
  double memory_free_ = 0;
  RingRun result_;
};

SimulatedRing::SimulatedRing(SimulatedChain chain) : chain_(std::move(chain)) {
  (void)describe(chain_);
  for (const auto& stage : chain_.stages) {
    jitter_.emplace_back(stage.jitter, hash_name(stage.name));
    constant_ = constant_ && (stage.jitter.kind == Jitter::Kind::none || stage.jitter.cv <= 0);
  }
}

double SimulatedRing::cost(std::size_t stage, std::uint64_t index) const noexcept {
  const double seconds = chain_.stages[stage].seconds;
  return constant_ ? seconds : seconds * jitter_[stage].factor(index);
}

RingRun SimulatedRing::run(int boundary, std::uint64_t first_index, int steps) const {
  return RingSimulation(*this, boundary, first_index, steps).run();
}

double SimulatedRing::seconds_per_sample(int boundary, int steps) const {
  const int warmup = std::max(1, steps / 2);
  const RingRun result = run(boundary, 0, warmup + steps);
  return (result.step_ends.back() - result.step_ends[static_cast<std::size_t>(warmup) - 1]) /
         (static_cast<double>(steps) * static_cast<double>(chain_.batch_size));
}

}  // namespace cachebisect

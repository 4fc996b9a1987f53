#include "cachebisect/replay/simulated_event_ring.hpp"

#include <algorithm>
#include <limits>

#include "cachebisect/replay/simulated_device.hpp"

namespace cachebisect {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kDone = 1e-13;  ///< seconds of work left that are none
constexpr std::size_t kNoStage = std::numeric_limits<std::size_t>::max();

/// A core changes hands when its thread sleeps, or after so long when others want it: shorter
/// bursts run to their end, as a kernel lets them.
constexpr double kTimeSlice = 1.5e-3;

/// A thread's place in the queue for the cores, kept while it computes on.
struct CorePlace {
  std::uint64_t turn = 0;  ///< 0: in no queue; lower ones come first
  double ran = 0;          ///< seconds of this turn on a core
};

/// What a thread does until its next event.
struct Activity {
  enum class Kind { computes, streams, sleeps, parked };
  Kind kind = Kind::parked;
  double left = 0;               ///< computes, streams: seconds on a core of its own
  double until = kNever;         ///< sleeps
  std::size_t stage = kNoStage;  ///< whose counters it moves
  CorePlace place{};

  [[nodiscard]] bool wants_core() const { return kind == Kind::computes || kind == Kind::streams; }
};

struct Worker {
  enum class Phase { claims, serves, works, collates };
  Activity activity{};
  Phase phase = Phase::claims;
  std::int64_t position = 0;  ///< sample in work; claim [position, end)
  std::int64_t end = 0;
  std::size_t stage = 0;
};

struct Trainer {
  enum class Phase { wants_batch, wants_buffer, waits_for_copy, computes };
  Activity activity{};
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
        workers_(static_cast<std::size_t>(chain_.workers)) {
    const auto most = static_cast<std::size_t>(request.steps + slots_ + 2 * chain_.workers + 2);
    remaining_.assign(most, chain_.batch_size);
    slot_free_.assign(most, kNever);
    complete_.assign(most, 0);
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
  }

  RingRun run() {
    const auto steps = static_cast<std::size_t>(request_.steps);
    for (auto& worker : workers_) resume(worker);
    resume(trainer_);
    while (device_.step_ends().size() < steps) {
      pass_time();
      for (auto& worker : workers_) {
        if (is_due(worker.activity)) resume(worker);
      }
      if (is_due(trainer_.activity)) resume(trainer_);
    }
    result_.step_ends = device_.step_ends();
    auto& copy = result_.stages.back();
    copy.busy_seconds = device_.copy_busy_seconds();
    copy.samples = device_.copies() * static_cast<std::uint64_t>(chain_.batch_size);
    if (asked_ > 0) result_.ready_batches = ready_sum_ / static_cast<double>(asked_);
    return std::move(result_);
  }

 private:
  using Kind = Activity::Kind;

  template <typename Function>
  void for_each_activity(const Function& function) {
    for (auto& worker : workers_) function(worker.activity);
    function(trainer_.activity);
  }

  [[nodiscard]] bool is_due(const Activity& activity) const {
    if (activity.kind == Kind::parked) return false;
    return activity.kind == Kind::sleeps ? activity.until <= now_ : activity.left <= kDone;
  }

  /// Gives turns to those who have come, and finds the last turn that has a core.
  void queue_for_cores() {
    turns_.clear();
    for_each_activity([&](Activity& a) {
      if (!a.wants_core()) {
        a.place = {};
        return;
      }
      if (a.place.turn == 0) a.place.turn = ++last_turn_;
      turns_.push_back(a.place.turn);
    });
    const auto cores = static_cast<std::size_t>(chain_.cores);
    crowded_ = turns_.size() > cores;
    last_on_core_ = last_turn_;
    if (crowded_) {
      const auto last = turns_.begin() + static_cast<std::ptrdiff_t>(cores) - 1;
      std::nth_element(turns_.begin(), last, turns_.end());
      last_on_core_ = *last;
    }
  }

  [[nodiscard]] bool runs(const Activity& a) const {
    return a.wants_core() && a.place.turn <= last_on_core_;
  }

  /// When the running activity is done or, where others want its core, its turn is over.
  [[nodiscard]] double end_of(const Activity& a, double rate) const {
    const double done = now_ + std::max(0.0, a.left) / rate;
    return crowded_ ? std::min(done, now_ + std::max(0.0, kTimeSlice - a.place.ran)) : done;
  }

  void run_for(Activity& a, double passed, double rate) {
    a.left -= passed * rate;
    // A remainder that rounding leaves too small to move the clock is no work.
    if (now_ + a.left / rate <= now_) a.left = 0;
    result_.cpu_seconds += passed;
    if (a.stage != kNoStage) result_.stages[a.stage].cpu_seconds += passed;
    a.place.ran += passed;
    // The same of what is left of a turn.
    const double turn_left = kTimeSlice - a.place.ran;
    if (crowded_ && (turn_left <= kDone || now_ + turn_left <= now_)) {
      a.place = {.turn = ++last_turn_};
    }
  }

  /// Moves to the next event: who has a core computes, all that stream share the memory too.
  void pass_time() {
    queue_for_cores();
    int streaming = 0;
    for_each_activity(
        [&](const Activity& a) { streaming += a.kind == Kind::streams && runs(a) ? 1 : 0; });
    const auto rate = [&](const Activity& a) {
      return a.kind == Kind::streams ? 1.0 / streaming : 1.0;
    };
    double until = kNever;
    for_each_activity([&](const Activity& a) {
      if (a.kind == Kind::sleeps) until = std::min(until, a.until);
      if (runs(a)) until = std::min(until, end_of(a, rate(a)));
    });
    const double passed = until - now_;
    for_each_activity([&](Activity& a) {
      if (a.kind == Kind::parked) return;
      if (a.stage != kNoStage) result_.stages[a.stage].busy_seconds += passed;
      if (runs(a)) run_for(a, passed, rate(a));
    });
    now_ = until;
  }

  static void compute(Activity& a, double seconds, std::size_t stage = kNoStage) {
    a = {.kind = Kind::computes, .left = seconds, .stage = stage, .place = a.place};
  }
  static void sleep(Activity& a, double until, std::size_t stage = kNoStage) {
    a = {.kind = Kind::sleeps, .until = until, .stage = stage};
  }

  /// Carries a worker on until it has something to do that takes time.
  void resume(Worker& worker) {
    worker.activity = {.place = worker.activity.place};
    for (;;) {
      switch (worker.phase) {
        case Worker::Phase::claims:
          if (!claim(worker)) return;
          worker.phase = Worker::Phase::serves;
          if (request_.boundary > 0 && chain_.serve_seconds > 0) {
            const auto count = static_cast<double>(worker.end - worker.position);
            compute(worker.activity, chain_.serve_seconds * count);
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
    if (free <= now_) return true;
    if (free < kNever) sleep(worker.activity, free);
    return false;
  }

  /// True when the worker's next stage takes time.
  bool work(Worker& worker) {
    while (worker.stage < chain_.stages.size()) {
      const std::size_t stage = worker.stage++;
      const double seconds = ring_.cost(stage, request_, worker.position);
      ++result_.stages[stage].samples;
      if (seconds <= 0) continue;
      start(worker.activity, stage, seconds);
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
    if (seconds > 0) compute(worker.activity, seconds, collate);
    return seconds > 0;
  }

  void start(Activity& activity, std::size_t stage, double seconds) {
    switch (chain_.stages[stage].kind) {
      case CostKind::cpu:
      case CostKind::payload:
        compute(activity, seconds, stage);
        return;
      case CostKind::memory:
        activity = {
            .kind = Kind::streams, .left = seconds, .stage = stage, .place = activity.place};
        return;
      case CostKind::wait:
        sleep(activity, now_ + seconds, stage);
        return;
      case CostKind::lock:
        lock_free_ = std::max(now_, lock_free_) + seconds;
        result_.stages[stage].serial_seconds += seconds;
        sleep(activity, lock_free_, stage);
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
    if (trainer_.activity.kind == Kind::parked) sleep(trainer_.activity, now_);
  }

  [[nodiscard]] bool batch_is_ready() const { return complete_[consumed_] != 0; }

  void resume(Trainer& trainer) {
    trainer.activity = {.place = trainer.activity.place};
    for (;;) {
      switch (trainer.phase) {
        case Trainer::Phase::wants_batch:
          if (!request_.shadow && !batch_is_ready()) return;
          starved_ += now_ - trainer.asked;
          trainer.phase = Trainer::Phase::wants_buffer;
          if (const double free = device_.may_submit(now_); free > now_) {
            sleep(trainer.activity, free);
            return;
          }
          break;
        case Trainer::Phase::wants_buffer:
          submit(trainer);
          trainer.phase = Trainer::Phase::waits_for_copy;
          if (!chain_.copy_non_blocking && trainer.copied > now_) {
            sleep(trainer.activity, trainer.copied);
            return;
          }
          break;
        case Trainer::Phase::waits_for_copy:
          trainer.phase = Trainer::Phase::computes;
          began_ = now_;
          if (chain_.trainer_seconds > 0) {
            compute(trainer.activity, chain_.trainer_seconds);
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
    trainer.copied = now_;
    if (request_.shadow && !batch_is_ready()) return;
    const double copied = device_.copy(now_);
    if (!request_.shadow || !chain_.copy_overlaps()) trainer.copied = copied;
    if (!chain_.device_is_host || request_.shadow) free_slot(copied);
  }

  void free_slot(double free) {
    slot_free_[consumed_] = free;
    const auto waiting = static_cast<std::int64_t>(consumed_) + slots_;
    ++consumed_;
    for (auto& worker : workers_) {
      const bool parked = worker.activity.kind == Kind::parked && worker.position < worker.end;
      if (parked && worker.position / chain_.batch_size == waiting) {
        sleep(worker.activity, std::max(now_, free));
      }
    }
  }

  void finish_step(Trainer& trainer) {
    const double end = device_.step(trainer.copied, now_);
    if (chain_.device_is_host && !request_.shadow) free_slot(end);
    busy_ += now_ - began_;
    result_.starved_by.push_back(starved_);
    result_.trainer_by.push_back(busy_);
    trainer.phase = Trainer::Phase::wants_batch;
    trainer.asked = now_;
    ready_sum_ += static_cast<double>(completed_) - static_cast<double>(consumed_);
    ++asked_;
  }

  const SimulatedRing& ring_;
  const SimulatedChain& chain_;
  const RingRequest& request_;
  SimulatedDevice device_;
  int slots_;
  std::int64_t grain_;
  std::vector<Worker> workers_;
  Trainer trainer_;
  std::vector<std::int64_t> remaining_;  ///< by batch: samples to come
  std::vector<double> slot_free_;        ///< by batch: when its slot may be filled again
  std::vector<char> complete_;           ///< by batch
  std::int64_t next_ = 0;
  std::size_t completed_ = 0;
  std::size_t consumed_ = 0;
  std::vector<std::uint64_t> turns_;  ///< scratch of queue_for_cores()
  std::uint64_t last_turn_ = 0;
  std::uint64_t last_on_core_ = 0;
  bool crowded_ = false;
  double now_ = 0;
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
  return EventRing(ring, request).run();
}

}  // namespace cachebisect

#include "cachebisect/replay/choose_workers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/replay/trainer.hpp"

namespace cachebisect {
namespace {

constexpr double kBlockSeconds = 0.04;
constexpr double kMaxSeconds = 3;  ///< of the whole search
constexpr double kWorth = 1.03;    ///< twice the workers must be faster by this factor
const double kLogWorth = std::log(kWorth);
const double kLogExcluded = std::log(1.10);  ///< no larger gain is likely: known well enough
constexpr double kFewIdleCores = 1.10;       ///< all cores over the busy ones
constexpr double kConfidence = 0.95;
constexpr std::size_t kMinRounds = 3;
constexpr std::size_t kMaxRounds = 12;
constexpr double kMinSteps = 3;
constexpr double kMaxSteps = 100000;
constexpr int kMaxWorkers = 64;
constexpr double kMaxMemoryShare = 0.1;  ///< of the free memory, for batch slots

/// A count of workers with what was measured of it.
struct Candidate {
  std::unique_ptr<Trainer> trainer;
  int steps = 0;  ///< timed ones of a block
  std::vector<double> rates;
  std::size_t blocks = 0;
  std::size_t exhausted_blocks = 0;  ///< in which more workers could not have helped

  [[nodiscard]] bool exhausted() const {
    return blocks >= kMinRounds && 4 * exhausted_blocks >= 3 * blocks;
  }

  [[nodiscard]] int workers() const { return trainer->loader.workers(); }
  [[nodiscard]] WorkerTrial trial() const {
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    return {workers(), median(rates),
            median_interval(rates, kConfidence).value_or(Interval{*least, *most})};
  }
};

/// More workers can save only the time that the training step waits for them, and use only the
/// cores that are idle.
bool is_exhausted(const BlockTiming& block, double cores) {
  const double without_waiting = block.seconds - block.starved_seconds;
  return block.seconds < kWorth * without_waiting ||
         cores * block.seconds < kFewIdleCores * block.cpu_seconds;
}

/// Workers that start together finish batches in groups.
int whole_groups(int steps, int workers) { return (steps + workers - 1) / workers * workers; }

class Search {
 public:
  Search(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
         const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for, LiveOrder order,
         const std::stop_token& stop)
      : pipeline_(pipeline),
        device_(device),
        step_for_(step_for),
        stop_(stop),
        order_(std::move(order)) {}

  WorkerChoice run() {
    const FlushDenormals flush;
    Candidate best = open(1);
    while (may_double(best)) {
      Candidate doubled = open(2 * best.workers());
      if (!beats(doubled, best)) break;
      best = std::move(doubled);
    }
    choice_.workers = best.workers();
    for (auto& [workers, trial] : trials_) choice_.search.trials.push_back(trial);
    steps_.restore_weights();
    return std::move(choice_);
  }

 private:
  Candidate open(int workers) {
    Candidate candidate;
    candidate.trainer =
        std::make_unique<Trainer>(pipeline_, device_, step_for_(workers), workers, order_, steps_);
    // The first block shows how long a step takes; it is not counted.
    candidate.steps = whole_groups(static_cast<int>(kMinSteps), workers);
    const double rate = measure(candidate);
    candidate.blocks = 0;
    candidate.exhausted_blocks = 0;
    trials_[workers] = {workers, rate, {rate, rate}};
    const double step_seconds = static_cast<double>(pipeline_.batch_size()) / rate;
    const double steps = std::clamp(kBlockSeconds / step_seconds, kMinSteps, kMaxSteps);
    candidate.steps = whole_groups(static_cast<int>(std::ceil(steps)), workers);
    return candidate;
  }

  /// Samples/s of a block of the live loop.
  double measure(Candidate& candidate) {
    Trainer& trainer = *candidate.trainer;
    const BlockSteps steps{.warmup = std::max(2, trainer.loader.workers()),
                           .timed = candidate.steps,
                           .observe = false};
    LoadRequest request = order_.request(order_.reserve(
        static_cast<std::uint64_t>(steps.warmup + steps.timed + trainer.loader.slots())));
    request.observe = false;
    steps_.use(*trainer.step);
    StepSource source;
    source.loader = &trainer.loader;
    const LoadGuard running(trainer.loader, request);
    const BlockTiming timing = trainer.loop.run(source, steps, stop_);
    ++candidate.blocks;
    if (is_exhausted(timing, cores_)) ++candidate.exhausted_blocks;
    return static_cast<double>(timing.samples) / std::max(timing.seconds, 1e-9);
  }

  /// Measures both in turns until the ratio of their rates is known well enough.
  bool beats(Candidate& doubled, Candidate& present) {
    std::vector<double> ratios;
    present.rates.clear();
    present.blocks = 0;
    present.exhausted_blocks = 0;
    bool certain = false;
    while (!certain && ratios.size() < kMaxRounds && (ratios.empty() || !out_of_time())) {
      Candidate& first = ratios.size() % 2 == 0 ? present : doubled;
      Candidate& second = ratios.size() % 2 == 0 ? doubled : present;
      first.rates.push_back(measure(first));
      second.rates.push_back(measure(second));
      ratios.push_back(std::log(doubled.rates.back() / present.rates.back()));
      const auto interval = mean_interval(ratios, kConfidence);
      certain = ratios.size() >= kMinRounds &&
                (present.exhausted() || interval->low > kLogWorth || interval->high < kLogExcluded);
    }
    choice_.search.certain = choice_.search.certain && certain;
    for (const Candidate* tried : {&present, &doubled}) trials_[tried->workers()] = tried->trial();
    return !present.exhausted() && median(ratios) > kLogWorth;
  }

  [[nodiscard]] bool out_of_time() const { return monotonic_seconds() - began_ > kMaxSeconds; }

  bool may_double(const Candidate& best) {
    if (best.exhausted()) return false;
    std::string& limit = choice_.search.limited_by;
    const auto held = static_cast<double>(best.trainer->loader.bytes_held());
    if (best.workers() >= kMaxWorkers) {
      limit = "workers";
    } else if (2 * held > kMaxMemoryShare * probe_machine().memory_available_bytes) {
      limit = "memory";
    } else if (out_of_time()) {
      limit = "time";
    }
    return limit.empty();
  }

  const Pipeline& pipeline_;
  const std::shared_ptr<Device>& device_;
  const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for_;
  const std::stop_token& stop_;
  LiveOrder order_;
  TrainedSteps steps_;
  double began_ = monotonic_seconds();
  double cores_ = probe_machine().usable_cpus;
  std::map<int, WorkerTrial> trials_;  ///< by workers
  WorkerChoice choice_;
};

}  // namespace

WorkerChoice choose_workers(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
                            const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for,
                            const LiveOrder& order, const std::stop_token& stop) {
  return Search(pipeline, device, step_for, order, stop).run();
}

}  // namespace cachebisect

#include "cachebisect/replay/worker_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "cachebisect/base/statistics.hpp"

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
  int workers = 1;
  std::unique_ptr<TrialLoop> loop;
  int steps = 0;  ///< of a block
  std::vector<double> rates;
  std::size_t blocks = 0;
  std::size_t exhausted_blocks = 0;  ///< in which more workers could not have helped

  [[nodiscard]] bool exhausted() const {
    return blocks >= kMinRounds && 4 * exhausted_blocks >= 3 * blocks;
  }

  [[nodiscard]] WorkerTrial trial() const {
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    return {workers, median(rates),
            median_interval(rates, kConfidence).value_or(Interval{*least, *most})};
  }
};

/// More workers can save only the time that the training step waits for them, and use only the
/// cores that are idle.
bool is_exhausted(const TrialBlock& block, double cores) {
  const double without_waiting = block.seconds - block.starved_seconds;
  return block.seconds < kWorth * without_waiting ||
         cores * block.seconds < kFewIdleCores * block.cpu_seconds;
}

/// Workers that start together finish batches in groups.
int whole_groups(int steps, int workers) { return (steps + workers - 1) / workers * workers; }

class Search {
 public:
  explicit Search(const WorkerTrials& with) : with_(with) {}

  WorkerChoice run() {
    Candidate best = open(1);
    while (may_double(best)) {
      Candidate doubled = open(2 * best.workers);
      if (!beats(doubled, best)) break;
      best = std::move(doubled);
    }
    choice_.workers = best.workers;
    for (auto& [workers, trial] : trials_) choice_.search.trials.push_back(trial);
    return std::move(choice_);
  }

 private:
  Candidate open(int workers) {
    Candidate candidate{.workers = workers, .loop = with_.open(workers)};
    // The first block shows how long a step takes; it is not counted.
    candidate.steps = whole_groups(static_cast<int>(kMinSteps), workers);
    const double rate = measure(candidate);
    candidate.blocks = 0;
    candidate.exhausted_blocks = 0;
    trials_[workers] = {workers, rate, {rate, rate}};
    const double step_seconds = with_.batch_size / rate;
    const double steps = std::clamp(kBlockSeconds / step_seconds, kMinSteps, kMaxSteps);
    candidate.steps = whole_groups(static_cast<int>(std::ceil(steps)), workers);
    return candidate;
  }

  /// Samples/s of a block of the live loop.
  double measure(Candidate& candidate) const {
    const TrialBlock block = candidate.loop->run(candidate.steps);
    ++candidate.blocks;
    if (is_exhausted(block, with_.cores)) ++candidate.exhausted_blocks;
    return static_cast<double>(block.samples) / std::max(block.seconds, 1e-9);
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
    for (const Candidate* tried : {&present, &doubled}) trials_[tried->workers] = tried->trial();
    return !present.exhausted() && median(ratios) > kLogWorth;
  }

  [[nodiscard]] bool out_of_time() const { return with_.clock() - began_ > kMaxSeconds; }

  bool may_double(const Candidate& best) {
    if (best.exhausted()) return false;
    std::string& limit = choice_.search.limited_by;
    if (best.workers >= kMaxWorkers) {
      limit = "workers";
    } else if (2 * best.loop->bytes_held() > kMaxMemoryShare * with_.free_bytes()) {
      limit = "memory";
    } else if (out_of_time()) {
      limit = "time";
    }
    return limit.empty();
  }

  const WorkerTrials& with_;
  double began_ = with_.clock();
  std::map<int, WorkerTrial> trials_;  ///< by workers
  WorkerChoice choice_;
};

}  // namespace

TrialLoop::~TrialLoop() = default;

WorkerChoice search_workers(const WorkerTrials& trials) { return Search(trials).run(); }

}  // namespace cachebisect

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
/// Blocks this long need no repetition to show a difference this large.
constexpr double kLongSeconds = 0.1;
const double kLogUnmistakable = std::log(1.4);
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
  std::size_t exhausted_blocks = 0;  ///< in which more workers could not have helped
  double seconds = 0;                ///< of the last block

  [[nodiscard]] bool blocks_are_long() const { return seconds >= kLongSeconds; }
  [[nodiscard]] bool exhausted() const {
    const std::size_t blocks = rates.size();
    return blocks >= (blocks_are_long() ? 1 : kMinRounds) && 4 * exhausted_blocks >= 3 * blocks;
  }
  void forget() {
    rates.clear();
    exhausted_blocks = 0;
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
    // The first block shows how long a step takes; if it is short, it is not counted.
    candidate.steps = whole_groups(static_cast<int>(kMinSteps), workers);
    measure(candidate);
    trials_[workers] = candidate.trial();
    const double step_seconds = with_.batch_size / candidate.rates.back();
    if (!candidate.blocks_are_long()) candidate.forget();
    const double steps = std::clamp(kBlockSeconds / step_seconds, kMinSteps, kMaxSteps);
    candidate.steps = whole_groups(static_cast<int>(std::ceil(steps)), workers);
    return candidate;
  }

  /// Adds a block of the live loop.
  void measure(Candidate& candidate) const {
    const TrialBlock block = candidate.loop->run(candidate.steps);
    candidate.seconds = std::max(block.seconds, 1e-9);
    if (is_exhausted(block, with_.cores)) ++candidate.exhausted_blocks;
    candidate.rates.push_back(static_cast<double>(block.samples) / candidate.seconds);
  }

  /// Measures both in turns until the ratio of their rates is known well enough.
  bool beats(Candidate& doubled, Candidate& present) {
    std::vector<double> ratios;
    const auto add_ratio = [&] {
      ratios.push_back(std::log(doubled.rates.back() / present.rates.back()));
    };
    const bool long_blocks = present.blocks_are_long() && doubled.blocks_are_long();
    if (long_blocks) {
      add_ratio();
    } else {
      present.forget();
    }
    const auto known = [&] {
      if (present.exhausted()) return true;
      if (long_blocks && std::abs(median(ratios)) > kLogUnmistakable) return true;
      if (ratios.size() < kMinRounds) return false;
      const auto interval = mean_interval(ratios, kConfidence);
      return interval->low > kLogWorth || interval->high < kLogExcluded;
    };
    while (!known() && ratios.size() < kMaxRounds && (ratios.empty() || !out_of_time())) {
      const bool doubled_first = ratios.size() % 2 == 1;
      measure(doubled_first ? doubled : present);
      measure(doubled_first ? present : doubled);
      add_ratio();
    }
    choice_.search.certain = choice_.search.certain && known();
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

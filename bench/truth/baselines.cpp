#include "bench/truth/baselines.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cachebisect/base/error.hpp"

namespace cachebisect::truth {

const char* to_string(Method method) noexcept {
  switch (method) {
    case Method::bisect:
      return "bisect";
    case Method::by_hand:
      return "by-hand";
    case Method::averages:
      return "averages";
    case Method::busiest:
      return "busiest";
  }
  return "unknown";
}

Method method_of(const std::string& text) {
  for (const Method method : {Method::bisect, Method::by_hand, Method::averages, Method::busiest}) {
    if (text == to_string(method)) return method;
  }
  throw Error(ErrorKind::usage, "--method " + text + ": bisect, by-hand, averages or busiest");
}

namespace {

constexpr int kStepsByHand = 100;
constexpr int kWarmupSteps = 2;
constexpr int kStepsToGuess = 3;
constexpr double kAverageSeconds = 10;

class Baseline {
 public:
  Baseline(Replayer& replayer, const BaselineOptions& options)
      : replayer_(replayer), options_(options), chain_(replayer.describe()) {
    static_cast<void>(replayer_.prepare({}, {}));
    started_ = replayer_.clock();
  }

  Report by_hand() {
    return walk([&](int boundary) {
      Arm one_batch{.boundary = boundary};
      if (boundary > 0) one_batch.cache_samples = static_cast<std::uint64_t>(chain_.batch_size);
      return tau(run(one_batch, kStepsByHand));
    });
  }

  Report averages() {
    const double share = options_.budget_seconds / static_cast<double>(chain_.stages.size() + 1);
    return walk([&](int boundary) { return average({.boundary = boundary}, share).first; });
  }

  Report busiest() {
    const BlockResult block = average({}, options_.budget_seconds).second;
    Report report = start_report();
    if (block.starved_seconds < options_.min_drop * block.seconds) {
      report.verdict.kind = VerdictKind::flat;
      return report;
    }
    const auto most = std::max_element(block.stages.begin(), block.stages.end(),
                                       [](const StageCounters& a, const StageCounters& b) {
                                         return a.busy_seconds < b.busy_seconds;
                                       });
    if (most != block.stages.end()) {
      name(report, static_cast<int>(most - block.stages.begin()) + 1);
    }
    return report;
  }

 private:
  static double tau(const BlockResult& block) {
    return block.seconds / static_cast<double>(block.samples);
  }

  BlockResult run(const Arm& arm, int steps) {
    ++blocks_;
    return replayer_.run(
        {.arm = arm, .steps = steps, .warmup_steps = kWarmupSteps, .seed = options_.seed}, {});
  }

  /// One block of ten seconds, or of `share` seconds, whichever is less; its tau, and itself.
  std::pair<double, BlockResult> average(const Arm& arm, double share) {
    const double before = replayer_.clock();
    const BlockResult guess = run(arm, kStepsToGuess);
    const double step = guess.seconds / kStepsToGuess;
    const double left =
        std::min(kAverageSeconds, share) - (replayer_.clock() - before) - kWarmupSteps * step;
    const int steps = std::max(1, static_cast<int>(left / step));
    if (steps <= kStepsToGuess) return {tau(guess), guess};
    BlockResult block = run(arm, steps);
    return {tau(block), std::move(block)};
  }

  /// From the device upstream, as one does it by hand.
  template <typename Measure>
  Report walk(const Measure& measure) {
    const auto n = static_cast<int>(chain_.stages.size());
    std::vector<double> taus(chain_.stages.size() + 1);
    for (int k = n; k >= 0; --k) {
      if (elapsed() >= options_.budget_seconds) return start_report();
      taus[static_cast<std::size_t>(k)] = measure(k);
    }
    Report report = start_report();
    report.verdict.kind = VerdictKind::flat;
    double largest = 0;
    for (int stage = 1; stage <= n; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      const double cost = taus[s - 1] - taus[s];
      if (cost < options_.min_drop * taus[s - 1] || cost < largest) continue;
      largest = cost;
      name(report, stage);
    }
    return report;
  }

  [[nodiscard]] double elapsed() const { return replayer_.clock() - started_; }

  [[nodiscard]] Report start_report() const {
    Report report;
    report.chain = chain_;
    report.settings.min_drop = options_.min_drop;
    report.settings.budget_seconds = options_.budget_seconds;
    report.timing.measure_seconds = elapsed();
    report.verdict.rounds = 1;
    report.blocks.resize(static_cast<std::size_t>(blocks_));
    for (std::size_t s = 0; s < chain_.stages.size(); ++s) {
      StageReport stage;
      stage.index = static_cast<int>(s) + 1;
      stage.name = chain_.stages[s].name;
      report.stages.push_back(std::move(stage));
    }
    return report;
  }

  static void name(Report& report, int stage) {
    report.verdict.kind = VerdictKind::drop;
    report.verdict.stage_index = stage;
    report.verdict.stage = report.stages[static_cast<std::size_t>(stage) - 1].name;
  }

  Replayer& replayer_;
  const BaselineOptions& options_;
  ChainDescription chain_;
  double started_ = 0;
  int blocks_ = 0;
};

}  // namespace

Report run_baseline(Method method, Replayer& replayer, const BaselineOptions& options) {
  Baseline baseline(replayer, options);
  switch (method) {
    case Method::by_hand:
      return baseline.by_hand();
    case Method::averages:
      return baseline.averages();
    case Method::busiest:
      return baseline.busiest();
    case Method::bisect:
      break;
  }
  throw Error(ErrorKind::internal, "run_baseline() runs baselines");
}

}  // namespace cachebisect::truth

#include "cachebisect/profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/observe/loop_events.hpp"
#include "cachebisect/observe/slowdown.hpp"
#include "cachebisect/profile/action_sums.hpp"
#include "cachebisect/profile/cpu_sampler.hpp"
#include "cachebisect/profile/function_table.hpp"
#include "cachebisect/profile/idle_time.hpp"
#include "cachebisect/profile/loop_recorder.hpp"
#include "cachebisect/profile/step_trace.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect::profile {
namespace {

constexpr int kPilotSteps = 3;
constexpr double kCycleSeconds = 0.5;
constexpr int kMinActive = 3;
constexpr int kTracedActive = 3;
constexpr int kMaxSteps = 100'000;
constexpr int kCycles = 10;
constexpr int kAdvancedCycles = 3;
/// The most steps of a cycle that `advanced` profiles: a step of a small network calls a hundred
/// operators, each an event.
constexpr int kMaxAdvancedActive = 50;
/// Limits of measuring the cost with further pairs, when fewer cycles are asked for: pairs in all,
/// and seconds in all.
constexpr int kCostPairs = 5;
constexpr double kCostSeconds = 10;
/// Seconds between two samples of the functions of stages. The kernel's tick, 1 to 10 ms, bounds
/// the rate as well.
constexpr double kSamplePeriod = 0.5e-3;
constexpr double kSampledSeconds = 1;
constexpr int kSampledBlocks = 3;
constexpr std::size_t kMaxSamples = 50'000;
/// The most events of all workers together: about 20 MB, and 100 MB as text.
constexpr std::size_t kMaxEvents = 500'000;

std::unique_ptr<StepProfiler> profiler_of(const Job& job, const Options& options) {
  if (options.kind == Kind::simple) return nullptr;
  return job.step->make_profiler(options.step_profiler);
}

int usual_cycles(const Options& options) {
  if (options.trace) return 1;
  return options.kind == Kind::advanced ? kAdvancedCycles : kCycles;
}

/// What is recorded of blocks, and the events that tell it.
struct Observed {
  Observed(std::size_t steps, LoadRecorder* workers) : recorder(steps, workers) {}
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  LoopRecorder recorder;
  LoopEvents events{{&recorder}};
};

class Session {
 public:
  Session(const Job& job, const Options& options)
      : options_(options),
        cycles_(options.repeat.value_or(usual_cycles(options))),
        keep_(options.trace || options.kind == Kind::advanced),
        replayer_(job.make_replayer()),
        profiler_(profiler_of(job, options)) {
    profile_.chain = replayer_.describe();
    untimed_ = std::max({options.wait + options.warmup, profile_.chain.ring_slots, 1});
  }

  Profile run() {
    active_ = options_.active ? *options_.active : usual_active();
    if (keep_) {
      const int workers = profile_.chain.workers;
      workers_ = std::make_unique<LoadRecorder>(
          workers, kMaxEvents / static_cast<std::size_t>(std::max(workers, 1)));
    }
    Observed observed(static_cast<std::size_t>(active_), workers_.get());
    observed.recorder.profile_step(profiler_.get(), untimed_ - options_.warmup);
    try {
      for (int pair = 0; pair < cycles_ || is_worth(pair); ++pair) run_pair(pair, observed);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted || done_ == 0) throw;
      profile_.interrupted = done_ < cycles_;
    }
    if (options_.kind == Kind::advanced && !profile_.interrupted) sample_functions();
    sums_.write_to(profile_);
    profile_.cost = cost();
    find();
    return std::move(profile_);
  }

 private:
  void say(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  /// Whether a further pair, for the cost alone, is worth its time.
  [[nodiscard]] bool is_worth(int pairs) const {
    const double spent = monotonic_seconds() - began_;
    return pairs < kCostPairs && spent * (pairs + 1) / pairs < kCostSeconds;
  }

  int usual_active() {
    if (options_.trace) return kTracedActive;
    const int steps = steps_in(kCycleSeconds);
    return options_.kind == Kind::advanced ? std::min(steps, kMaxAdvancedActive) : steps;
  }

  [[nodiscard]] std::optional<ProfilingCost> cost() const {
    const Estimate share = slowdown_of(log_ratios_);
    if (!share.value) return std::nullopt;
    return ProfilingCost{*share.value, share.interval, static_cast<int>(log_ratios_.size())};
  }

  void find() {
    const std::vector<Cycle>& cycles = profile_.recorded;
    const auto add = [&](const std::string& finding) {
      if (!finding.empty()) profile_.findings.push_back(finding);
    };
    if (options_.kind != Kind::simple && !profiler_) {
      add("the step does not run in LibTorch: nothing tells its operators");
    }
    if (options_.kind == Kind::advanced) profile_.operators = operator_rows(cycles);
    const DeviceKind device = profile_.chain.device_kind;
    if (const auto idle = idle_time(cycles, device)) add(idle_text(*idle, device));
    add(memory_text(cycles));
    if (!options_.trace) profile_.recorded.clear();
  }

  /// Blocks of their own, long enough for many samples, in which only the workers are recorded.
  void sample_functions() {
    if (!step_seconds_) (void)steps_in(kSampledSeconds);
    const double events = static_cast<double>(profile_.chain.batch_size) *
                          static_cast<double>(profile_.chain.stages.size());
    const double most = static_cast<double>(kMaxEvents) / events;
    const int steps = static_cast<int>(std::clamp(std::min(kSampledSeconds / *step_seconds_, most),
                                                  1.0, static_cast<double>(kMaxSteps)));
    Observed observed(static_cast<std::size_t>(steps), workers_.get());
    CpuSampler sampler(kMaxSamples, kSamplePeriod);
    observed.recorder.sample_cpu(&sampler);
    FunctionSums sums(kSamplePeriod);
    try {
      for (int i = 0; i < kSampledBlocks; ++i) {
        say("sampling the functions of the stages");
        replayer_.begin_round();
        (void)block(steps, &observed);
        sums.add(cycle_of(observed.recorder, workers_.get()), sampler.samples(), profile_.chain);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      profile_.interrupted = true;
    }
    profile_.functions = sums.rows();
  }

  BlockResult block(int steps, Observed* observed) {
    BlockRequest request;
    request.steps = steps;
    request.warmup_steps = untimed_;
    request.arm.observed = observed != nullptr;
    replayer_.observe(observed != nullptr ? &observed->events : nullptr);
    replayer_.record(observed != nullptr ? workers_.get() : nullptr);
    return replayer_.run(request, options_.stop);
  }

  /// Timed steps of a cycle, from a block of few steps.
  int steps_in(double seconds) {
    say("measuring how long a step takes");
    const BlockResult pilot = block(kPilotSteps, nullptr);
    const double step = pilot.seconds / pilot.steps;
    step_seconds_ = step;
    return static_cast<int>(
        std::clamp<double>(std::ceil(seconds / std::max(step, 1e-9)), kMinActive, kMaxSteps));
  }

  BlockResult profiled_block(bool keep, Observed& observed) {
    BlockResult result = block(active_, &observed);
    std::string step_trace = profiler_ ? profiler_->stop() : "";
    if (!keep) return result;
    ++done_;
    const std::uint64_t first_step = sums_.steps();
    sums_.add(result, observed.recorder, workers_.get());
    if (!workers_) return result;
    Cycle cycle = cycle_of(observed.recorder, workers_.get());
    cycle.first_step = first_step;
    cycle.step_trace = std::move(step_trace);
    profile_.dropped += workers_->dropped();
    profile_.recorded.push_back(std::move(cycle));
    return result;
  }

  /// A profiled block and one that is not, in an order that changes from pair to pair.
  void run_pair(int pair, Observed& observed) {
    say(pair < cycles_ ? "cycle " + std::to_string(pair + 1) + " of " + std::to_string(cycles_)
                       : "measuring the cost of profiling, pair " + std::to_string(pair + 1));
    replayer_.begin_round();
    const bool profiled_first = pair % 2 == 0;
    BlockResult plain;
    if (!profiled_first) plain = block(active_, nullptr);
    const BlockResult profiled = profiled_block(pair < cycles_, observed);
    if (profiled_first) plain = block(active_, nullptr);
    if (!plain.is_void && !profiled.is_void && plain.seconds > 0 && profiled.seconds > 0) {
      log_ratios_.push_back(std::log(profiled.seconds / plain.seconds));
    }
  }

  const Options& options_;
  int cycles_;
  bool keep_;  ///< what was recorded of each cycle
  PipelineReplayer replayer_;
  std::unique_ptr<StepProfiler> profiler_;
  std::unique_ptr<LoadRecorder> workers_;  ///< null unless cycles are kept
  Profile profile_;
  ActionSums sums_;
  std::vector<double> log_ratios_;
  std::optional<double> step_seconds_;
  double began_ = monotonic_seconds();
  int untimed_ = 1;
  int active_ = 1;
  int done_ = 0;  ///< cycles
};

}  // namespace

void check(const Options& options) {
  const auto at_least = [](const char* option, int value, int least) {
    if (value >= least && value <= kMaxSteps) return;
    throw Error(ErrorKind::usage, std::string(option) + " " + std::to_string(value) +
                                      "; it must be from " + std::to_string(least) + " to " +
                                      std::to_string(kMaxSteps));
  };
  at_least("--wait", options.wait, 0);
  at_least("--warmup", options.warmup, 0);
  at_least("--active", options.active.value_or(1), 1);
  at_least("--repeat", options.repeat.value_or(1), 1);
}

std::string memory_text(const std::vector<Cycle>& cycles) {
  std::map<std::string, double> peaks;
  for (const Cycle& cycle : cycles) {
    if (cycle.step_trace.empty()) continue;
    for (const auto& [device, bytes] : read_step_trace(cycle.step_trace).peak_bytes) {
      peaks[device] = std::max(peaks[device], bytes);
    }
  }
  std::string text;
  for (const auto& [device, bytes] : peaks) {
    text += (text.empty() ? "" : ", ") + format_bytes(bytes) + " on " + device;
  }
  return text.empty() ? "" : "LibTorch held at most " + text;
}

std::optional<Kind> parse_kind(std::string_view text) {
  if (text == "simple") return Kind::simple;
  if (text == "advanced") return Kind::advanced;
  if (text == "pytorch") return Kind::pytorch;
  return std::nullopt;
}

Profile run(const Job& job, const Options& options) {
  check(options);
  return Session(job, options).run();
}

}  // namespace cachebisect::profile

#include "cachebisect/simulate/simulated_replayer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/settling.hpp"
#include "cachebisect/simulate/simulated_overrides.hpp"

namespace cachebisect {
namespace {

constexpr std::uint64_t kPeriod = JitterSequence::kPeriod;
/// Run beyond the request, so that one run serves blocks with longer warm-ups too.
constexpr int kSpareSteps = 16;
/// Batches of the data that a round may leave out.
constexpr std::uint64_t kMaxUnread = 8;

bool replays(const Arm& arm) { return arm.kind == ArmKind::replay || arm.kind == ArmKind::null; }

/// The counters of a share of a run, from those of the whole run.
void scale(StageCounters& counters, double share) {
  const auto part = [&](std::uint64_t count) {
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count)));
  };
  counters.busy_seconds *= share;
  counters.cpu_seconds *= share;
  counters.slot_write_seconds *= share;
  counters.serial_seconds *= share;
  counters.samples = part(counters.samples);
  counters.slot_writes = part(counters.slot_writes);
}

/// Slows all parts of a block alike; threads that stand still use no CPU time.
void stretch(BlockResult& block, double factor, double cpu_factor) {
  block.seconds *= factor;
  block.cpu_seconds *= cpu_factor;
  block.starved_seconds *= factor;
  block.trainer_seconds *= factor;
  block.first_batch_seconds *= factor;
  for (StageCounters& stage : block.stages) {
    stage.busy_seconds *= factor;
    stage.cpu_seconds *= cpu_factor;
    stage.serial_seconds *= factor;
  }
}

}  // namespace

SimulatedReplayer::SimulatedReplayer(SimulatedChain chain, SimulatedOptions options)
    : ring_(std::move(chain)),
      options_(std::move(options)),
      noise_(options_.noise, options_.seed),
      quota_(options_.quota) {}

SimulatedReplayer::~SimulatedReplayer() = default;

ChainDescription SimulatedReplayer::describe() const {
  ChainDescription chain = cachebisect::describe(ring_.chain());
  chain.keeps_queues = options_.keeps_queues && chain.workers > 0;
  const double quota = options_.quota.cpus;
  if (quota > 0) chain.usable_cpus = std::min<double>(ring_.chain().cores, quota);
  return chain;
}

bool SimulatedReplayer::supports(const Arm& arm) const {
  const int last = ring_.chain().boundaries();
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return arm.boundary >= 0 && arm.boundary <= last && arm.overrides.empty();
    case ArmKind::unseen:
      return options_.has_unseen && arm.boundary >= 1 &&
             arm.boundary < ring_.chain().collate_boundary() && arm.overrides.empty();
    case ArmKind::bypass:
      return arm.stage >= 1 && arm.stage <= last && arm.overrides.empty();
    case ArmKind::shadow:
      return arm.overrides.empty();
    case ArmKind::live:
      return with_overrides(ring_.chain(), arm.overrides).has_value();
  }
  return false;
}

CacheFacts SimulatedReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped while filling caches");
  budget_ = budget;
  const SimulatedChain& chain = ring_.chain();
  const auto batch = static_cast<std::uint64_t>(chain.batch_size);
  const int ring_slots = chain.workers + chain.ring_prefetch + 1;
  const auto slots = static_cast<std::uint64_t>(ring_slots);
  // What workers and slots hold and two batches more, in whole periods of the jitter: the cached
  // samples must cost as much on average as the data set.
  const std::uint64_t period = std::lcm(batch, kPeriod);
  const std::uint64_t in_flight = (slots + 2) * batch;
  CacheFacts facts = fill((in_flight + period - 1) / period * period);
  kept_.clear();
  if (budget_.host_bytes && facts.bytes_host > *budget_.host_bytes) {
    throw Error(ErrorKind::usage, "the host cache budget holds not even one batch");
  }
  clock_ += facts.seconds;
  cache_samples_ = facts.samples;
  return facts;
}

std::optional<CacheFacts> SimulatedReplayer::refill(std::uint64_t samples,
                                                    const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped while filling caches");
  const auto batch = static_cast<std::uint64_t>(ring_.chain().batch_size);
  const std::uint64_t wanted = samples == 0 ? cache_samples_ : samples / batch * batch;
  if (wanted == 0 || wanted > ring_.chain().samples) return std::nullopt;
  CacheFacts facts = fill(wanted);
  if (budget_.host_bytes && facts.bytes_host > *budget_.host_bytes) return std::nullopt;
  if (budget_.device_bytes && facts.bytes_device > *budget_.device_bytes) return std::nullopt;
  clock_ += facts.seconds;
  first_cached_ += cache_samples_;
  cache_samples_ = wanted;
  kept_.clear();
  return facts;
}

bool SimulatedReplayer::freshen(std::uint64_t samples, const std::stop_token& stop) {
  if (ring_.periodic()) return false;
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped while filling caches");
  const auto batch = static_cast<std::uint64_t>(ring_.chain().batch_size);
  const std::uint64_t wanted = (samples + batch - 1) / batch * batch;
  clock_ += fill(wanted).seconds;
  first_cached_ += cache_samples_;
  cache_samples_ = wanted;
  for (auto& [arm, run] : kept_) run.refill(first_cached_, cache_samples_);
  return true;
}

CacheFacts SimulatedReplayer::fill(std::uint64_t samples) {
  const SimulatedChain& chain = ring_.chain();
  CacheFacts facts;
  facts.samples = samples;
  const ChainDescription description = describe();
  facts.item_bytes.push_back(0);
  for (const auto& stage : description.stages) {
    facts.item_bytes.push_back(stage.output_bytes.value_or(0));
    (stage.held == Held::host ? facts.bytes_host : facts.bytes_device) +=
        facts.item_bytes.back() * static_cast<double>(facts.samples);
  }
  facts.serve_seconds_per_sample.assign(facts.item_bytes.size(), 0);
  for (int k = 1; k < chain.collate_boundary(); ++k) {
    facts.serve_seconds_per_sample[static_cast<std::size_t>(k)] = chain.serve_seconds;
  }
  facts.seconds = static_cast<double>(facts.samples) * ring_.seconds_per_sample(0, 4);
  return facts;
}

MachineReading SimulatedReplayer::read_machine() const {
  MachineReading reading;
  reading.seconds = clock_;
  if (options_.quota.cpus > 0) {
    reading.quota_periods = std::floor(clock_ / options_.quota.period_seconds);
    reading.throttled_periods = quota_.throttled();
    reading.quota_period_seconds = options_.quota.period_seconds;
    reading.quota_cpus = options_.quota.cpus;
  }
  return reading;
}

/// Skips a few batches of the data, as a real replayer does: if blocks are as long as a period of
/// the costs, every round would begin at the same place without this.
void SimulatedReplayer::begin_round() {
  const auto batch = static_cast<std::uint64_t>(ring_.chain().batch_size);
  cache_position_ += (cache_samples_ / batch / 3 + 1) * batch;
  RandomStream random({.seed = options_.seed, .epoch = rounds_++, .stage = hash_name("skipped")});
  live_position_ += random.below(kMaxUnread) * batch;
}

const SimulatedRing& SimulatedReplayer::ring_of(const Arm& arm) {
  if (arm.overrides.empty()) return ring_;
  const auto found = changed_rings_.find(arm.overrides);
  if (found != changed_rings_.end()) return found->second;
  auto chain = with_overrides(ring_.chain(), arm.overrides);
  return changed_rings_.emplace(arm.overrides, SimulatedRing(std::move(*chain))).first->second;
}

RingRequest SimulatedReplayer::ring_request(const BlockRequest& request) const {
  const Arm& arm = request.arm;
  RingRequest ring;
  ring.steps = request.warmup_steps + request.steps;
  ring.shadow = arm.kind == ArmKind::shadow;
  if (arm.kind == ArmKind::bypass) ring.bypass = arm.stage;
  const bool unseen = arm.kind == ArmKind::unseen;
  if (arm.has_boundary()) ring.boundary = arm.boundary;
  if (unseen || ring.boundary == 0) {
    ring.first_index = live_position_;
  } else {
    ring.seen = true;
    ring.first_index = cache_position_;
    ring.first_cached = first_cached_;
    ring.cache_samples =
        arm.cache_samples > 0 ? std::min(arm.cache_samples, cache_samples_) : cache_samples_;
  }
  return ring;
}

const RingRun& SimulatedReplayer::cached_run(const BlockRequest& request) {
  const SimulatedRing& ring = ring_of(request.arm);
  RingRequest wanted = ring_request(request);
  // Runs are equal from every sample of equal phase, if the cache holds whole periods.
  const std::uint64_t phase = ring.constant() ? 0
                              : wanted.cache_samples % kPeriod == 0
                                  ? (wanted.first_index + wanted.first_cached) % kPeriod
                                  : kPeriod + wanted.first_index;
  if (!ring.periodic()) runs_.clear();
  RingRun& run = runs_[{request.arm, wanted.cache_samples, phase}];
  if (run.step_ends.size() < static_cast<std::size_t>(wanted.steps)) {
    wanted.steps += kSpareSteps;
    run = ring.run(wanted);
  }
  return run;
}

bool SimulatedReplayer::keeps(const Arm& arm) {
  const SimulatedRing& ring = ring_of(arm);
  return options_.keeps_queues && arm.kind != ArmKind::unseen && ring_.chain().workers > 0 &&
         (!replays(arm) || ring.needs_workers(arm.boundary));
}

SimulatedReplayer::BlockSteps SimulatedReplayer::kept_steps(const BlockRequest& request) {
  Arm arm = request.arm;
  arm.observed = true;
  if (arm.kind == ArmKind::null) arm.kind = ArmKind::replay;
  const SimulatedChain& chain = ring_of(arm).chain();
  KeptRun& run = kept_.try_emplace(arm, ring_of(arm), ring_request(request)).first->second;
  BlockSteps steps;
  const int settling = settling_steps(chain.workers, chain.workers + chain.ring_prefetch + 1);
  steps.warmup = request.warmup_steps + (run.is_new() ? settling : 0);
  const std::size_t first = run.take(steps.warmup + request.steps);
  const std::size_t begin = first + static_cast<std::size_t>(steps.warmup);
  const std::size_t last = begin + static_cast<std::size_t>(request.steps) - 1;
  const auto between = [](std::size_t from, std::size_t to, const auto& sum) {
    return sum(to) - (from > 0 ? sum(from - 1) : 0);
  };
  const auto end = [&](std::size_t step) { return run.end(step); };
  const auto cpu = [&](std::size_t step) { return run.cpu(step); };
  steps.seconds = between(begin, last, end);
  steps.warmup_seconds = between(first, last, end) - steps.seconds;
  steps.starved = between(begin, last, [&](std::size_t step) { return run.starved(step); });
  steps.trainer = between(begin, last, [&](std::size_t step) { return run.trainer(step); });
  steps.cpu = between(begin, last, cpu);
  for (std::size_t step = first; needs_each_step(request) && step <= last; ++step) {
    steps.each.push_back({between(step, step, end), between(step, step, cpu)});
  }
  steps.run = &run.whole();
  return steps;
}

SimulatedReplayer::BlockSteps SimulatedReplayer::fresh_steps(const BlockRequest& request) {
  const RingRun& run = cached_run(request);
  const auto last = static_cast<std::size_t>(request.warmup_steps + request.steps) - 1;
  const auto untimed = [&](const std::vector<double>& by_step) {
    return request.warmup_steps > 0 ? by_step[static_cast<std::size_t>(request.warmup_steps) - 1]
                                    : 0;
  };
  const auto timed = [&](const std::vector<double>& by_step) {
    return by_step[last] - untimed(by_step);
  };
  BlockSteps steps{request.warmup_steps,
                   untimed(run.step_ends),
                   timed(run.step_ends),
                   timed(run.starved_by),
                   timed(run.trainer_by),
                   timed(run.cpu_by),
                   &run};
  for (std::size_t step = 0; needs_each_step(request) && step <= last; ++step) {
    const auto own = [&](const std::vector<double>& by_step) {
      return by_step[step] - (step > 0 ? by_step[step - 1] : 0);
    };
    steps.each.push_back({own(run.step_ends), own(run.cpu_by)});
  }
  return steps;
}

SimulatedReplayer::QuietBlock SimulatedReplayer::quiet(const BlockRequest& request) {
  BlockSteps steps = keeps(request.arm) ? kept_steps(request) : fresh_steps(request);
  const RingRun& run = *steps.run;
  QuietBlock block;
  block.warmup_seconds = steps.warmup_seconds;
  block.steps = std::move(steps.each);
  BlockResult& result = block.result;
  result.seconds = steps.seconds;
  result.steps = request.steps;
  result.warmup_steps = steps.warmup;
  result.samples = static_cast<std::uint64_t>(request.steps) *
                   static_cast<std::uint64_t>(ring_of(request.arm).chain().batch_size);
  result.cpu_seconds = steps.cpu;
  result.starved_seconds = steps.starved;
  result.trainer_seconds = steps.trainer;
  result.ready_batches = run.ready_batches;
  result.first_batch_seconds = run.step_ends.front();
  if (request.arm.observed) {
    result.stages = run.stages;
    const double share = (steps.warmup_seconds + steps.seconds) / run.step_ends.back();
    for (StageCounters& counters : result.stages) scale(counters, share);
  }
  return block;
}

void SimulatedReplayer::inject_faults(const std::stop_token& stop) {
  const SimulatedFaults& faults = options_.faults;
  if (faults.clock_jump_at_block == blocks_) clock_ += faults.clock_jump_seconds;
  if (faults.fail_at_block == blocks_) {
    const auto stage = static_cast<std::size_t>(std::max(1, faults.fail_stage)) - 1;
    throw Error(ErrorKind::data, "stage " + ring_.chain().stages.at(stage).name +
                                     ": planted failure at sample " +
                                     std::to_string(live_position_));
  }
  if (faults.hang_at_block == blocks_) {
    // Virtual time passes until the run is stopped.
    while (!stop.stop_requested()) clock_ += 1e-3;
  }
}

double SimulatedReplayer::probe_factor(const Arm& arm) const noexcept {
  return arm.observed ? 1 + options_.probe_share : 1;
}

bool SimulatedReplayer::needs_each_step(const BlockRequest& request) const noexcept {
  return options_.quota.cpus > 0 || request.groups > 1;
}

void SimulatedReplayer::add_noise_by_group(QuietBlock& block, const BlockRequest& request,
                                           int boundary) {
  const int group = std::max(1, block.result.steps / request.groups);
  double now = clock_ + block.warmup_seconds;
  auto step = block.steps.begin() + block.result.warmup_steps;
  for (int timed = 0; timed < block.result.steps; timed += group) {
    const auto end = step + std::min(group, block.result.steps - timed);
    const double quiet = std::accumulate(
        step, end, 0.0, [](double sum, const StepCost& c) { return sum + c.seconds; });
    const double factor = probe_factor(request.arm) * noise_.factor(now, quiet, boundary);
    for (; step != end; ++step) *step = {step->seconds * factor, step->cpu_seconds * factor};
    now += quiet * factor;
  }
}

void SimulatedReplayer::time_groups(QuietBlock& block, const BlockRequest& request) {
  BlockResult& result = block.result;
  const int group = std::max(1, result.steps / request.groups);
  const double samples = group * static_cast<double>(result.samples) / result.steps;
  auto step = block.steps.begin() + result.warmup_steps;
  double seconds = 0;
  int timed = 0;
  for (; timed + group <= result.steps; timed += group, step += group) {
    if (request.max_seconds > 0 && seconds > request.max_seconds) break;
    double taken = 0;
    std::for_each(step, step + group, [&](const StepCost& cost) { taken += cost.seconds; });
    result.group_taus.push_back(taken / samples);
    seconds += taken;
  }
  const double share = static_cast<double>(timed) / result.steps;
  result.samples = static_cast<std::uint64_t>(std::lround(samples / group * timed));
  result.steps = timed;
  stretch(result, seconds / result.seconds, share);
}

void SimulatedReplayer::apply_quota(QuietBlock& block, const BlockRequest& request) {
  BlockResult& result = block.result;
  double now = clock_;
  double group_began = now;
  const int group = result.steps / std::max(1, request.groups);
  const double samples = static_cast<double>(result.samples) / result.steps;
  for (int i = -result.warmup_steps; i < result.steps; ++i) {
    const StepCost& step = block.steps[static_cast<std::size_t>(i + result.warmup_steps)];
    if (i == 0) {
      block.warmup_seconds = now - clock_;
      group_began = now;
    }
    now += quota_.run(now, step.seconds, step.cpu_seconds);
    if (i < 0 || (i + 1) % group != 0 || request.groups == 1) continue;
    result.group_taus.push_back((now - group_began) / (group * samples));
    group_began = now;
  }
  const double seconds = now - clock_ - block.warmup_seconds;
  stretch(result, seconds / result.seconds, 1);
}

void SimulatedReplayer::add_carried(QuietBlock& block, int boundary) {
  const double warmup = block.warmup_seconds;
  const double timed = block.result.seconds;
  const double carried = noise_.carried_seconds(boundary, warmup, warmup + timed);
  block.warmup_seconds += noise_.carried_seconds(boundary, 0, warmup);
  if (timed > 0) stretch(block.result, 1 + carried / timed, 1);
  noise_.end_block(boundary);
}

BlockResult SimulatedReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  if (!supports(request.arm)) {
    throw Error(ErrorKind::usage, std::string("the simulation has no arm ") +
                                      to_string(request.arm.kind) + " with these settings");
  }
  if (request.steps < 1 || request.warmup_steps < 0) {
    throw Error(ErrorKind::usage, "a block needs at least one timed step");
  }
  inject_faults(stop);
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  QuietBlock block = quiet(request);
  const bool unseen = request.arm.kind == ArmKind::unseen;
  const int boundary = request.arm.has_boundary() ? request.arm.boundary : 0;
  if (unseen || boundary == 0) {
    const auto steps = static_cast<std::uint64_t>(request.steps + block.result.warmup_steps);
    const std::uint64_t samples =
        steps * static_cast<std::uint64_t>(ring_of(request.arm).chain().batch_size);
    live_position_ += samples;
    // Its samples come through the stages before the boundary first.
    if (unseen) clock_ += static_cast<double>(samples) * ring_.seconds_per_sample(0, 4);
  }
  const double seconds = block.warmup_seconds + block.result.seconds;
  if (request.groups > 1) {
    add_noise_by_group(block, request, boundary);
  } else {
    const double factor = probe_factor(request.arm) * noise_.factor(clock_, seconds, boundary);
    block.warmup_seconds *= factor;
    stretch(block.result, factor, factor);
    for (StepCost& step : block.steps) step = {step.seconds * factor, step.cpu_seconds * factor};
  }
  add_carried(block, boundary);
  if (options_.quota.cpus > 0) {
    apply_quota(block, request);
  } else if (request.groups > 1) {
    time_groups(block, request);
  }
  BlockResult& result = block.result;
  result.start_seconds = clock_;
  clock_ += options_.block_overhead_seconds + block.warmup_seconds + result.seconds;
  ++blocks_;
  result.is_void = options_.faults.void_every > 0 && blocks_ % options_.faults.void_every == 0;
  if (result.is_void) clock_ += 0.6;
  return result;
}

}  // namespace cachebisect

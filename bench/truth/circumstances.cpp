#include "bench/truth/circumstances.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/jitter.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/shuffle.hpp"
#include "cachebisect/selftest/chain_law.hpp"
#include "cachebisect/simulate/kept_run.hpp"
#include "cachebisect/simulate/simulated_quota.hpp"

namespace cachebisect::truth {
namespace {

using selftest::PlantedChain;
using selftest::Truth;

constexpr std::array kNames{
    std::pair{Circumstance::none, "none"},       std::pair{Circumstance::contended, "contended"},
    std::pair{Circumstance::quota, "quota"},     std::pair{Circumstance::arms, "arms"},
    std::pair{Circumstance::period, "period"},   std::pair{Circumstance::content, "content"},
    std::pair{Circumstance::carried, "carried"}, std::pair{Circumstance::emptied, "emptied"}};

constexpr double kMostContended = 2;
constexpr double kLeastQuota = 0.5;  ///< of the CPU time that live needs
constexpr double kMostQuota = 1.1;
constexpr double kMostSpeedup = 0.005;
constexpr double kLiveCv = 0.05;
constexpr double kMostUpdate = 4;  ///< as many usual steps
constexpr double kMostContentCv = 1;
constexpr std::uint64_t kContentPeriod = 4096;  ///< samples whose costs differ
constexpr double kMostCarried = 0.3;

void set_taus(Truth& truth, std::vector<double> taus) {
  truth.drops.clear();
  for (std::size_t s = 1; s < taus.size(); ++s) truth.drops.push_back(1 - taus[s] / taus[s - 1]);
  truth.loss = 1 - taus.back() / taus.front();
  truth.seconds_per_sample = std::move(taus);
  truth.largest = selftest::largest_stage(truth.seconds_per_sample);
}

/// Seconds per sample at each boundary, by `tau(k)`; empty if a stage makes the chain faster: there
/// is no stage to blame then.
std::optional<std::vector<double>> taus_of(const SimulatedChain& chain,
                                           const std::function<double(int)>& tau) {
  std::vector<double> taus;
  for (int k = 0; k <= chain.boundaries(); ++k) {
    const double here = tau(k);
    if (k > 0 && here > taus.back() * (1 + kMostSpeedup)) return std::nullopt;
    taus.push_back(here);
  }
  return taus;
}

/// Takes over a chain that has a truth; its shape is what it was.
void change(PlantedChain& planted, const SimulatedChain& chain) {
  const std::optional<Truth> truth = selftest::measure_truth(chain);
  if (!truth) return;
  planted.chain = chain;
  set_taus(planted.truth, truth->seconds_per_sample);
}

void contend(PlantedChain& planted, RandomStream& random) {
  std::vector<std::size_t> places;
  const auto& stages = planted.chain.stages;
  for (std::size_t s = 1; s < stages.size(); ++s) {
    if (stages[s].kind != CostKind::payload && stages[s].seconds > 0) places.push_back(s);
  }
  if (places.empty()) return;
  SimulatedChain chain = planted.chain;
  chain.stages[places[random.below(places.size())]].contended_factor =
      random.uniform(1.1, kMostContended);
  change(planted, chain);
}

/// Seconds per sample of the ring within the quota, in the long run.
double within_quota(const SimulatedRing& ring, int boundary, const SimulatedQuota& quota) {
  constexpr double kPeriods = 500;
  const auto batch = static_cast<double>(ring.chain().batch_size);
  const double step_seconds = ring.seconds_per_sample(boundary) * batch;
  const int steps = static_cast<int>(std::ceil(kPeriods * quota.period_seconds / step_seconds));
  KeptRun run(ring, {.boundary = boundary});
  run.take(steps);
  QuotaClock clock(quota);
  const auto of_step = [](std::size_t step, const auto& sum) {
    return sum(step) - (step > 0 ? sum(step - 1) : 0);
  };
  double now = 0;
  double from = 0;
  int begun = 0;
  for (int i = 0; i < steps; ++i) {
    const auto step = static_cast<std::size_t>(i);
    now += clock.run(now, of_step(step, [&](std::size_t s) { return run.end(s); }),
                     of_step(step, [&](std::size_t s) { return run.cpu(s); }));
    // From the first step after an empty ring that ends a period to the last one.
    const double periods = std::floor(now / quota.period_seconds);
    if (begun == 0 && periods >= kPeriods / 10) {
      begun = i + 1;
      from = now;
    }
  }
  return (now - from) / (batch * (steps - begun));
}

/// Stages that wait become work: a quota does not stop the time of a wait.
SimulatedChain busy(SimulatedChain chain) {
  for (SimulatedStage& stage : chain.stages) {
    if (stage.kind == CostKind::wait) stage.kind = CostKind::cpu;
  }
  chain.cores = std::max(chain.cores, chain.workers + 1);
  return chain;
}

void limit_cpus(PlantedChain& planted, SimulatedOptions& machine, RandomStream& random) {
  change(planted, busy(planted.chain));
  const double cpu_seconds = selftest::chain_law(planted.chain, 0).cpu_seconds;
  if (cpu_seconds <= 0) return;
  const double share = random.uniform(kLeastQuota, kMostQuota);
  const SimulatedQuota quota{.cpus = share * cpu_seconds / planted.truth.seconds_per_sample[0]};
  const SimulatedRing ring(planted.chain);
  auto taus = taus_of(planted.chain, [&](int k) { return within_quota(ring, k, quota); });
  if (!taus) return;
  machine.quota = quota;
  set_taus(planted.truth, std::move(*taus));
}

void add_period(PlantedChain& planted, RandomStream& random) {
  SimulatedChain chain = planted.chain;
  chain.step_period = 2 << random.below(3);
  chain.update_seconds = random.uniform(0.5, kMostUpdate) * chain.step_seconds;
  change(planted, chain);
}

/// Factors of lognormal costs in a random order: what any 64 samples cost does not average out.
std::function<double(std::uint64_t)> factor_by_content(double cv, RandomStream& random) {
  const JitterSequence cells({Jitter::Kind::lognormal, cv}, 0);
  std::vector<double> factors;
  for (std::uint64_t i = 0; i < kContentPeriod; ++i) factors.push_back(cells.factor(i));
  shuffle(factors, random);
  return [factors = std::move(factors)](std::uint64_t index) {
    return factors[static_cast<std::size_t>(index % kContentPeriod)];
  };
}

void depend_on_content(PlantedChain& planted, RandomStream& random) {
  SimulatedChain chain = planted.chain;
  for (SimulatedStage& stage : chain.stages) {
    if (stage.seconds <= 0 || random.below(2) == 0) continue;
    stage.factor = factor_by_content(random.uniform(0.2, kMostContentCv), random);
  }
  const SimulatedRing ring(chain);
  const auto batch = static_cast<std::uint64_t>(chain.batch_size);
  const int steps = static_cast<int>(2 * std::lcm(kContentPeriod, batch) / batch);
  auto taus = taus_of(chain, [&](int k) { return ring.seconds_per_sample(k, steps); });
  if (!taus) return;
  planted.chain = std::move(chain);
  set_taus(planted.truth, std::move(*taus));
}

/// Two batches per worker, as in PyTorch.
void load_by_batch(PlantedChain& planted, SimulatedOptions& machine) {
  machine.keeps_queues = false;
  if (planted.chain.workers < 2) return;
  SimulatedChain chain = planted.chain;
  chain.loader = LoaderKind::batch;
  chain.ring_prefetch = 2 * chain.workers;
  change(planted, chain);
}

}  // namespace

const char* to_string(Circumstance circumstance) noexcept {
  for (const auto& [known, name] : kNames) {
    if (known == circumstance) return name;
  }
  return "unknown";
}

Circumstance circumstance_of(const std::string& text) {
  for (const auto& [known, name] : kNames) {
    if (text == name) return known;
  }
  throw Error(
      ErrorKind::usage,
      "--meets " + text + ": none, contended, quota, arms, period, content, carried or emptied");
}

void apply(Circumstance circumstance, PlantedChain& planted, SimulatedOptions& machine) {
  RandomStream random({.seed = planted.seed, .stage = hash_name("circumstance")});
  switch (circumstance) {
    case Circumstance::none:
      return;
    case Circumstance::contended:
      return contend(planted, random);
    case Circumstance::quota:
      return limit_cpus(planted, machine, random);
    case Circumstance::arms:
      machine.noise.live_cv = kLiveCv;
      return;
    case Circumstance::period:
      return add_period(planted, random);
    case Circumstance::content:
      return depend_on_content(planted, random);
    case Circumstance::carried:
      machine.noise.carried = random.uniform(0, kMostCarried);
      return;
    case Circumstance::emptied:
      return load_by_batch(planted, machine);
  }
}

}  // namespace cachebisect::truth

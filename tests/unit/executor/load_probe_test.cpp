#include "cachebisect/executor/load_probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/statistics.hpp"

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

namespace {

constexpr double kWallCost = 35e-9;
constexpr double kCpuCost = 240e-9;
constexpr double kBudget = 0.002;

// Virtual time, advanced only by stages and clock readings.
double now = 0;
double reading = 0;

double read_clock(double cost) noexcept {
  now += cost;
  reading += cost;
  return now;
}

ProbeClocks virtual_clocks() {
  return {.wall = +[]() noexcept { return read_clock(kWallCost); },
          .cpu = +[]() noexcept { return read_clock(kCpuCost); },
          .wall_cost = kWallCost,
          .cpu_cost = kCpuCost};
}

/// Seconds of one stage for one sample.
using Cost = std::function<double(int sample)>;

struct Estimate {
  std::vector<double> wall;  ///< seconds of each stage, all samples
  std::vector<double> cpu;
  double share = 0;  ///< of the time, spent on readings
};

Estimate observe(const std::vector<Cost>& stages, int samples, std::uint64_t seed) {
  SampleProbe probe(virtual_clocks(), kBudget, seed);
  std::vector<StageTimes> times(stages.size());
  probe.reset(stages.size());
  now = 1000;
  reading = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const bool observed = probe.begin();
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      now += stages[stage](sample);
      if (observed) probe.lap(times[stage]);
    }
    if (observed) probe.end();
  }
  Estimate out;
  for (StageTimes& stage : times) {
    stage.samples.add(static_cast<std::uint64_t>(samples));
    out.wall.push_back(stage.busy_seconds());
    out.cpu.push_back(stage.cpu_seconds());
  }
  out.share = reading / (now - 1000);
  return out;
}

/// The truth lies within four standard errors of the mean.
void check_unbiased(const std::vector<double>& estimates, double truth) {
  const double error =
      standard_deviation(estimates) / std::sqrt(static_cast<double>(estimates.size()));
  CAPTURE(mean(estimates) / truth);
  CAPTURE(error / truth);
  CHECK(std::abs(mean(estimates) - truth) <= 4 * error + 1e-3 * truth);
}

}  // namespace

TEST_CASE("stage times exclude the clock readings, also for stages that do nothing") {
  const std::vector<Cost> stages{[](int) { return 3e-6; }, [](int) { return 0.0; },
                                 [](int) { return 1e-6; }};
  constexpr int kSamples = 100000;
  const Estimate seen = observe(stages, kSamples, 1);
  for (const auto& seconds : {seen.wall, seen.cpu}) {
    CHECK(seconds[0] == doctest::Approx(3e-6 * kSamples).epsilon(1e-4));
    CHECK(seconds[1] >= 0);
    CHECK(seconds[1] < 1e-10 * kSamples);
    CHECK(seconds[2] == doctest::Approx(1e-6 * kSamples).epsilon(1e-4));
  }
}

TEST_CASE("periodic costs are estimated without bias at any period") {
  constexpr int kSamples = 20000;
  constexpr int kSeeds = 60;
  // One stage is expensive when the other is cheap, so that the distance between observed samples
  // stays the same: a fixed distance would always observe the same phase of some period.
  for (int period = 2; period <= 200; period = period * 5 / 4 + 1) {
    CAPTURE(period);
    const auto dear = [&](int sample) { return sample % period == 0; };
    const std::vector<Cost> stages{[&](int i) { return dear(i) ? 10e-6 : 1e-6; },
                                   [&](int i) { return dear(i) ? 1e-6 : 10e-6; }};
    double truth = 0;
    for (int i = 0; i < kSamples; ++i) truth += stages[0](i);
    std::vector<double> wall;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Estimate seen = observe(stages, kSamples, seed);
      wall.push_back(seen.wall[0]);
    }
    check_unbiased(wall, truth);
  }
}

TEST_CASE("there is no bias when the distance between observed samples equals the period") {
  constexpr int kSamples = 50000;
  // The distance at 11 us per sample, from the weight of the samples.
  SampleProbe probe(virtual_clocks(), kBudget, 0);
  StageTimes times;
  probe.reset(1);
  int last = 0;
  std::vector<double> distances;
  for (int i = 0; i < kSamples; ++i) {
    const bool observed = probe.begin();
    now += 11e-6;
    if (!observed) continue;
    probe.lap(times);
    probe.end();
    distances.push_back(i - last);
    last = i;
  }
  const int period = static_cast<int>(std::lround(mean(distances)));
  REQUIRE(period > 2);
  std::vector<double> wall;
  std::vector<double> cpu;
  double truth = 0;
  for (int i = 0; i < kSamples; ++i) truth += i % period == 0 ? 10e-6 : 1e-6;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Estimate seen = observe({[&](int i) { return i % period == 0 ? 10e-6 : 1e-6; },
                                   [&](int i) { return i % period == 0 ? 1e-6 : 10e-6; }},
                                  kSamples, seed);
    wall.push_back(seen.wall[0]);
    cpu.push_back(seen.cpu[0]);
  }
  check_unbiased(wall, truth);
  check_unbiased(cpu, truth);
}

TEST_CASE("readings take a small share of the work whether samples are cheap or expensive") {
  for (const double seconds : {1e-6, 4e-6, 12e-6, 50e-6, 1e-3}) {
    for (const std::size_t count : {1U, 4U, 12U}) {
      CAPTURE(seconds);
      CAPTURE(count);
      const std::vector<Cost> stages(count,
                                     [=](int) { return seconds / static_cast<double>(count); });
      // As long as a block (40 ms) or a dozen samples.
      const int samples = std::max(12, static_cast<int>(0.04 / seconds));
      CHECK(observe(stages, samples, 1).share < kBudget);
    }
  }
}

TEST_CASE("a slow first sample or a stall does not make observation expensive") {
  constexpr int kSamples = 10000;
  const std::vector<Cost> stages{[](int i) { return i % 2000 == 0 ? 2e-3 : 4e-6; }};
  CHECK(observe(stages, kSamples, 1).share < kBudget);
}

TEST_CASE("batch times are sparse, weighted by samples, and exclude the clock readings") {
  BatchProbe probe(virtual_clocks(), kBudget, 1);
  StageTimes collate;
  StageTimes mix;
  probe.reset(2);
  now = 1000;
  reading = 0;
  constexpr int kBatches = 20000;
  for (int i = 0; i < kBatches; ++i) {
    now += 120e-6;  // its samples
    const bool observed = probe.begin();
    const std::int64_t size = i % 2 == 0 ? 32 : 16;
    for (StageTimes* times : {&collate, &mix}) {
      if (observed) probe.start_lap();
      now += static_cast<double>(size) * (times == &mix ? 0.1e-6 : 0.05e-6);
      if (observed) probe.lap(*times, size);
      times->samples.add(static_cast<std::uint64_t>(size));
    }
    if (observed) probe.end(120e-6);
  }
  constexpr double kSamples = 24.0 * kBatches;
  CHECK(collate.busy_seconds() == doctest::Approx(0.05e-6 * kSamples).epsilon(1e-3));
  CHECK(mix.busy_seconds() == doctest::Approx(0.1e-6 * kSamples).epsilon(1e-3));
  CHECK(mix.cpu_seconds() == doctest::Approx(0.1e-6 * kSamples).epsilon(1e-3));
  CHECK(reading / (now - 1000) < kBudget / 4);
}

TEST_CASE("a clock reading costs something, and a system call costs more") {
  const ProbeClocks clocks = measure_probe_clocks();
  CHECK(clocks.wall_cost > 0);
  CHECK(clocks.cpu_cost > 0);
  CHECK(clocks.wall_cost < 1e-3);
  CHECK(clocks.cpu_cost < 1e-3);
}

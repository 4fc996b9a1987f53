#include "cachebisect/executor/load_probe.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

// How a budget is spent: on wall clock readings, on CPU clock readings, on batches.
constexpr double kWallPart = 0.40;
constexpr double kCpuPart = 0.35;
constexpr double kBatchPart = 0.25;

// Reading a clock takes longer within the work than in a tight loop: the caches are colder, and the
// processor drains its pipeline. Factors measured by bench/probe_cost with every sample observed.
double wall_in_place(const ProbeClocks& clocks) noexcept { return 2 * clocks.wall_cost; }
double cpu_in_place(const ProbeClocks& clocks) noexcept { return 1.25 * clocks.cpu_cost; }

}  // namespace

SampleProbe::SampleProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept
    : clocks_(clocks), budget_(budget), wall_turns_(2 * seed), cpu_turns_(2 * seed + 1) {}

void SampleProbe::reset(std::size_t laps) noexcept {
  readings_ = static_cast<double>(laps + 1);
  mean_ = 0;
  spent_.clear();
  wall_turns_.reset();
  // The second sample: the first has shown how long a sample takes.
  cpu_turns_.reset(1);
}

bool SampleProbe::start(bool cpu) noexcept {
  cpu_ = cpu;
  began_ = last_ = now();
  return true;
}

void SampleProbe::lap(StageTimes& times) noexcept {
  const double time = now();
  if (cpu_) {
    times.cpu.add(time - last_ - clocks_.cpu_cost, cpu_turns_.weight());
  } else {
    times.wall.add(time - last_ - clocks_.wall_cost, wall_turns_.weight());
  }
  last_ = time;
}

void SampleProbe::end() noexcept {
  if (cpu_) {
    // At most every other sample: the time per sample is measured on the rest.
    const double cost = readings_ * cpu_in_place(clocks_);
    spent_.add(cost);
    cpu_turns_.set_stretch(std::max(2U, affordable_stretch(cost, kCpuPart * budget_, mean_)));
    return;
  }
  const double seconds = std::max(last_ - began_ - readings_ * clocks_.wall_cost, 1e-9);
  // The first samples of a run are the slowest, so a faster one gets more weight.
  const double weight = seconds < mean_ ? 0.5 : 0.1;
  mean_ = mean_ == 0 ? seconds : (1 - weight) * mean_ + weight * seconds;
  const double cost = readings_ * wall_in_place(clocks_);
  spent_.add(cost);
  wall_turns_.set_stretch(affordable_stretch(cost, kWallPart * budget_, mean_));
}

BatchProbe::BatchProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept
    : clocks_(clocks), budget_(budget), turns_(seed) {}

void BatchProbe::reset(std::size_t laps) noexcept {
  laps_ = static_cast<double>(laps);
  seconds_ = 0;
  spent_.clear();
  turns_.reset();
}

void BatchProbe::start_lap() noexcept {
  cpu_began_ = clocks_.cpu();
  wall_began_ = clocks_.wall();
}

void BatchProbe::lap(StageTimes& times, std::int64_t samples) noexcept {
  const double wall = clocks_.wall() - wall_began_ - clocks_.wall_cost;
  const double cpu = clocks_.cpu() - cpu_began_ - 2 * clocks_.wall_cost - clocks_.cpu_cost;
  const auto size = static_cast<double>(samples);
  times.wall.add(wall, turns_.weight(), size);
  times.cpu.add(cpu, turns_.weight(), size);
  seconds_ += std::max(wall, 0.0);
}

void BatchProbe::end(double loading_seconds) noexcept {
  const double cost = 2 * laps_ * (wall_in_place(clocks_) + cpu_in_place(clocks_));
  spent_.add(cost);
  turns_.set_stretch(affordable_stretch(cost, kBatchPart * budget_, loading_seconds + seconds_));
  seconds_ = 0;
}

}  // namespace cachebisect

#include "cachebisect/pipeline/executor/load_probe.hpp"

#include <cmath>

namespace cachebisect {
namespace {

// Costs of a reading, generously, and what observing may cost as a share of the work.
constexpr double kWallReading = 40e-9;
constexpr double kCpuReading = 500e-9;
constexpr double kWallShare = 0.0007;
constexpr double kCpuShare = 0.0005;

std::uint32_t gap(double cost, double share, double sample_seconds, double low, double high) {
  const double wanted = std::ceil(cost / (share * std::max(sample_seconds, 1e-9)));
  return static_cast<std::uint32_t>(std::clamp(wanted, low, high));
}

double scaled(double sum, double weight, std::uint64_t samples) noexcept {
  return weight > 0 ? sum / weight * static_cast<double>(samples) : 0;
}

}  // namespace

void StageTally::clear() noexcept {
  wall.clear();
  wall_weight.clear();
  cpu.clear();
  cpu_weight.clear();
  samples.clear();
  serial.clear();
}

double StageTally::busy_seconds() const noexcept {
  return scaled(wall.get(), wall_weight.get(), samples.get());
}

double StageTally::cpu_seconds() const noexcept {
  return scaled(cpu.get(), cpu_weight.get(), samples.get());
}

void SampleProbe::reset(std::size_t steps) noexcept {
  *this = SampleProbe{};
  laps_ = static_cast<double>(steps + 1);
  until_cpu_ = cpu_gap_ = 2;
}

bool SampleProbe::start(bool cpu) noexcept {
  cpu_ = cpu;
  began_ = last_ = cpu ? thread_cpu_seconds() : monotonic_seconds();
  return true;
}

void SampleProbe::lap(StageTally& tally) noexcept {
  const double now = cpu_ ? thread_cpu_seconds() : monotonic_seconds();
  const double weight = cpu_ ? cpu_gap_ : wall_gap_;
  (cpu_ ? tally.cpu : tally.wall).add((now - last_) * weight);
  (cpu_ ? tally.cpu_weight : tally.wall_weight).add(weight);
  last_ = now;
}

void SampleProbe::end() noexcept {
  if (cpu_) {
    until_cpu_ = cpu_gap_ = gap(laps_ * kCpuReading, kCpuShare, mean_, 2, 16384);
    return;
  }
  const double seconds = last_ - began_;
  // The first samples of a run are the slowest: what comes after them is believed sooner.
  const double weight = seconds < mean_ ? 0.5 : 0.1;
  mean_ = mean_ == 0 ? seconds : (1 - weight) * mean_ + weight * seconds;
  until_wall_ = wall_gap_ = gap(laps_ * kWallReading, kWallShare, mean_, 1, 4096);
}

}  // namespace cachebisect

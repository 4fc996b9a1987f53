#include "cachebisect/base/machine_watch.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include "cachebisect/base/cgroup.hpp"
#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/proc_files.hpp"

namespace cachebisect {
namespace {

/// The kernel counts in ticks of 10 ms: over a shorter time their rounding looks like load.
constexpr double kMinSeconds = 0.5;
constexpr std::size_t kMinClocks = 5;
/// Reading the clock of a CPU may interrupt it.
constexpr std::size_t kMaxCpusRead = 16;

double children_cpu_seconds() {
  rusage usage{};
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<double> cpuinfo_mhz(const std::string& root) {
  std::optional<double> fastest;
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    const auto from = line.find_first_of("0123456789");
    if (from == std::string::npos) continue;
    const auto mhz = leading_number(std::string_view(line).substr(from));
    if (mhz && *mhz > 0) fastest = std::max(fastest.value_or(0), *mhz);
  }
  return fastest;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS"
std::optional<double> memory_stall_seconds(const std::string& root) {
  const auto line = first_line(root + "/proc/pressure/memory");
  if (!line || !line->starts_with("some ")) return std::nullopt;
  constexpr std::string_view kTotal = "total=";
  const auto at = line->find(kTotal);
  if (at == std::string::npos) return std::nullopt;
  const auto microseconds = leading_number(std::string_view(*line).substr(at + kTotal.size()));
  return microseconds ? std::optional(1e-6 * *microseconds) : std::nullopt;
}

std::optional<double> other_load(const MachineReading& before, const MachineReading& after) {
  if (!before.times || !after.times || after.times->busy < before.times->busy) return std::nullopt;
  const double seconds = after.seconds - before.seconds;
  if (seconds < kMinSeconds || after.times->total <= before.times->total) return std::nullopt;
  const double busy =
      static_cast<double>(after.times->busy - before.times->busy) / after.ticks_per_second;
  const double own = after.own_cpu_seconds - before.own_cpu_seconds;
  return std::max(0.0, busy - own) / seconds;
}

std::optional<double> share(std::optional<double> part_before, std::optional<double> part_after,
                            double whole) {
  if (!part_before || !part_after || whole <= 0 || *part_after < *part_before) return std::nullopt;
  return (*part_after - *part_before) / whole;
}

}  // namespace

std::optional<double> read_clock_mhz(const std::string& root, const std::vector<int>& cpus) {
  // An idle CPU's clock says nothing about the busy ones.
  std::optional<double> fastest;
  for (std::size_t i = 0; i < std::min(cpus.size(), kMaxCpusRead); ++i) {
    const auto khz = number_in(root + "/sys/devices/system/cpu/cpu" + std::to_string(cpus[i]) +
                               "/cpufreq/scaling_cur_freq");
    if (khz && *khz > 0) fastest = std::max(fastest.value_or(0), *khz / 1000);
  }
  return fastest;
}

MachineReading read_machine(const std::string& root, const std::vector<int>& cpus) {
  MachineReading reading;
  reading.seconds = monotonic_seconds();
  reading.own_cpu_seconds = process_cpu_seconds() + children_cpu_seconds();
  reading.times = read_cpu_times(root, cpus);
  const long ticks = sysconf(_SC_CLK_TCK);
  if (ticks > 0) reading.ticks_per_second = static_cast<double>(ticks);
  reading.clock_mhz = read_clock_mhz(root, cpus);
  reading.clock_measured = reading.clock_mhz.has_value();
  if (!reading.clock_mhz) reading.clock_mhz = cpuinfo_mhz(root);
  if (const auto periods = quota_periods(root)) {
    reading.quota_periods = periods->all;
    reading.throttled_periods = periods->throttled;
    reading.quota_period_seconds = periods->seconds;
    reading.quota_cpus = periods->cpus;
  }
  reading.memory_stall_seconds = memory_stall_seconds(root);
  return reading;
}

void MachineWatch::add(const MachineReading& reading) {
  if (!first_) first_ = reading;
  last_ = reading;
  if (reading.clock_mhz) clocks_.push_back(*reading.clock_mhz);
}

Disturbance MachineWatch::seen() const {
  Disturbance seen;
  if (!first_) return seen;
  if (first_->times && last_.times) seen.steal_share = steal_share(*first_->times, *last_.times);
  seen.other_load = other_load(*first_, last_);
  const double periods = last_.quota_periods.value_or(0) - first_->quota_periods.value_or(0);
  seen.throttled_share = share(first_->throttled_periods, last_.throttled_periods, periods);
  seen.memory_stall_share = share(first_->memory_stall_seconds, last_.memory_stall_seconds,
                                  last_.seconds - first_->seconds);
  if (clocks_.size() >= kMinClocks) {
    std::vector<double> sorted = clocks_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t cut = sorted.size() / 10;
    const double low = sorted[cut];
    const double high = sorted[sorted.size() - 1 - cut];
    // A virtual machine reports its nominal clock, whatever the real one is.
    if (last_.clock_measured || high > low) seen.frequency_change = (high - low) / high;
  }
  return seen;
}

}  // namespace cachebisect

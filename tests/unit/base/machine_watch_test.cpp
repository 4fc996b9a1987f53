#include "cachebisect/base/machine_watch.hpp"

#include "support/fake_root.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cachebisect::test::FakeRoot;

namespace {

/// Two CPUs, 100 ticks per second, `busy` ticks of them busy.
MachineReading reading_at(double seconds, std::uint64_t busy, double own_cpu_seconds) {
  MachineReading reading;
  reading.seconds = seconds;
  reading.own_cpu_seconds = own_cpu_seconds;
  reading.times = CpuTimes{
      .total = static_cast<std::uint64_t>(200 * seconds), .steal = 0, .busy = busy, .cpus = 2};
  return reading;
}

Disturbance between(const MachineReading& before, const MachineReading& after) {
  MachineWatch watch;
  watch.add(before);
  watch.add(after);
  return watch.seen();
}

}  // namespace

TEST_CASE("nothing is known before the second reading") {
  MachineWatch watch;
  CHECK_FALSE(watch.seen().steal_share.has_value());
  watch.add(reading_at(0, 0, 0));
  CHECK_FALSE(watch.seen().other_load.has_value());
}

TEST_CASE("other load is the busy time that this process did not use") {
  const MachineReading before = reading_at(10, 500, 3);
  CHECK(*between(before, reading_at(20, 2000, 13)).other_load == doctest::Approx(0.5));
  CHECK(*between(before, reading_at(20, 1500, 13)).other_load == doctest::Approx(0));
  // Rounding of ticks must not become negative load.
  CHECK(*between(before, reading_at(20, 1490, 13)).other_load == 0);
  CHECK_FALSE(between(before, reading_at(10.1, 520, 3)).other_load.has_value());
}

TEST_CASE("counters that run backwards or stand still give no result") {
  const MachineReading before = reading_at(10, 500, 3);
  CHECK_FALSE(between(before, reading_at(20, 400, 3)).other_load.has_value());
  MachineReading frozen = before;
  frozen.seconds = 20;
  CHECK_FALSE(between(before, frozen).other_load.has_value());
  CHECK_FALSE(between(before, frozen).steal_share.has_value());
}

TEST_CASE("the stolen share comes from the same readings") {
  MachineReading after = reading_at(20, 1500, 13);
  after.times->steal = 100;
  CHECK(*between(reading_at(10, 500, 3), after).steal_share == doctest::Approx(0.05));
}

TEST_CASE("a clock change is detected, and single outliers are ignored") {
  const auto change = [](std::vector<double> clocks, bool measured) {
    MachineWatch watch;
    for (const double mhz : clocks) {
      MachineReading reading = reading_at(0, 0, 0);
      reading.clock_mhz = mhz;
      reading.clock_measured = measured;
      watch.add(reading);
    }
    return watch.seen().frequency_change;
  };
  CHECK(*change({4000, 4000, 4000, 3000, 3000, 3000}, true) == doctest::Approx(0.25));
  std::vector<double> mostly(20, 4000);
  mostly[7] = 800;
  CHECK(*change(mostly, true) == 0);
  CHECK_FALSE(change({4000, 3000}, true).has_value());
  // A nominal clock that never moves is no measurement; one that moves is.
  CHECK_FALSE(change({2000, 2000, 2000, 2000, 2000, 2000}, false).has_value());
  CHECK(*change({2000, 2000, 2000, 1500, 1500, 1500}, false) == doctest::Approx(0.25));
}

TEST_CASE("the counters of a machine are read from its files") {
  const FakeRoot root;
  root.write("/proc/stat", "cpu  1 0 0 9 0 0 0 0\ncpu0 1 0 0 9 0 0 0 0\n");
  root.write("/proc/pressure/memory",
             "some avg10=1.00 avg60=0.50 avg300=0.00 total=2500000\nfull total=1\n");
  root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
  root.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3300000\n");
  root.write("/sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "5000000\n");
  root.write("/proc/self/cgroup", "0::/job\n");
  root.write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  root.write("/sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nnr_periods 200\nnr_throttled 30\n");
  const MachineReading reading = read_machine(root.path(), {0, 1});
  CHECK(reading.times->busy == 1);
  CHECK(*reading.memory_stall_seconds == doctest::Approx(2.5));
  CHECK(*reading.clock_mhz == doctest::Approx(3300));
  CHECK(reading.clock_measured);
  CHECK(*reading.quota_periods == 200);
  CHECK(*reading.throttled_periods == 30);
  CHECK(*reading.quota_period_seconds == doctest::Approx(0.1));
  CHECK(*reading.quota_cpus == doctest::Approx(1.5));
  MachineReading later = reading;
  later.seconds += 10;
  *later.quota_periods += 100;
  *later.throttled_periods += 25;
  *later.memory_stall_seconds += 0.2;
  CHECK(*between(reading, later).throttled_share == doctest::Approx(0.25));
  CHECK(*between(reading, later).memory_stall_share == doctest::Approx(0.02));
}

TEST_CASE("without a frequency driver the clock comes from /proc/cpuinfo") {
  const FakeRoot root;
  root.write("/proc/cpuinfo", "cpu MHz\t\t: 2000.000\ncpu MHz\t\t: 2600.5\ncpu MHz : ?\n");
  const MachineReading reading = read_machine(root.path(), {0});
  CHECK(*reading.clock_mhz == doctest::Approx(2600.5));
  CHECK_FALSE(reading.clock_measured);
}

TEST_CASE("groups without a quota are never throttled") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/job\n");
  root.write("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/job/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
  const MachineReading reading = read_machine(root.path(), {});
  CHECK_FALSE(reading.quota_periods.has_value());
  CHECK_FALSE(reading.quota_period_seconds.has_value());
}

#include "cachebisect/base/machine.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "support/fake_root.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using cachebisect::test::FakeRoot;

TEST_CASE("a machine without limits has all its cores and memory") {
  const FakeRoot root;
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.cpu == "Test CPU 9000");
  CHECK(info.memory_bytes == 8000000.0 * 1024);
  CHECK(info.memory_available_bytes == 6000000.0 * 1024);
  CHECK(info.virtualized == true);
  CHECK(info.os.starts_with("Test OS 1, Linux"));
  CHECK(info.usable_cpus >= 1);
}

TEST_CASE("cgroup v2 limits apply, also those of a parent") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/job/step\n");
  root.write("/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  root.write("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/job/step/memory.max", "1000000\n");
  root.write("/sys/fs/cgroup/job/step/memory.current", "700000\n");
  root.write("/sys/fs/cgroup/job/step/memory.stat", "anon 1\ninactive_file 200000\n");
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.usable_cpus == doctest::Approx(0.5));
  CHECK(info.memory_bytes == 1000000);
  CHECK(info.memory_available_bytes == 500000);
}

TEST_CASE("cgroup v1 limits apply") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/x\n");
  root.write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "25000\n");
  root.write("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4000\n");
  root.write("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "5000\n");
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.usable_cpus == doctest::Approx(0.25));
  CHECK(info.memory_bytes == 4000);
  CHECK(info.memory_available_bytes == 0);
}

TEST_CASE("spare memory is what is free and a fifth of the page cache") {
  const FakeRoot root;
  root.write("/proc/meminfo",
             "MemTotal: 8000 kB\nMemFree: 1000 kB\nMemAvailable: 6000 kB\nCached: 5500 kB\n");
  CHECK(available_memory(root.path()).available_bytes == 6000.0 * 1024);
  CHECK(available_memory(root.path()).spare_bytes == 2000.0 * 1024);
  CHECK(probe_machine(root.path()).memory_available_bytes == 6000.0 * 1024);
  root.write("/proc/self/cgroup", "3:memory:/old\n0::/job\n");
  root.write("/sys/fs/cgroup/job/memory.max", "1000000\n");
  root.write("/sys/fs/cgroup/job/memory.current", "900000\n");
  root.write("/sys/fs/cgroup/job/memory.stat", "inactive_file 300000\nactive_file 200000\n");
  CHECK(available_memory(root.path()).available_bytes == 400000);
  CHECK(available_memory(root.path()).spare_bytes == doctest::Approx(200000));
  root.write("/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "500000\n");
  root.write("/sys/fs/cgroup/memory/old/memory.usage_in_bytes", "450000\n");
  root.write("/sys/fs/cgroup/memory/old/memory.stat",
             "total_inactive_file 50000\ntotal_active_file 200000\n");
  CHECK(available_memory(root.path()).spare_bytes == doctest::Approx(100000));
}

TEST_CASE("malformed contents do no harm") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "nonsense\n::\n0::/\n");
  root.write("/sys/fs/cgroup/cpu.max", "max\n");
  root.write("/proc/meminfo", "MemTotal: many\n");
  root.write("/proc/cpuinfo", "");
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.cpu == "unknown");
  CHECK_FALSE(info.virtualized.has_value());
}

TEST_CASE("the stolen share is taken between two readings") {
  const FakeRoot root;
  CHECK_FALSE(read_cpu_times(root.path()).has_value());
  root.write("/proc/stat", "cpu  10 0 10 70 0 0 0 10 5 5\n");
  const auto before = read_cpu_times(root.path());
  CHECK(before->total == 100);
  root.write("/proc/stat", "cpu  20 0 20 130 0 0 0 30 5 5\n");
  const auto after = read_cpu_times(root.path());
  CHECK(*steal_share(*before, *after) == doctest::Approx(0.2));
  CHECK_FALSE(steal_share(*before, *before).has_value());
}

TEST_CASE("quotas keep their fractions, and the lowest on the path applies") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/pod/container\n");
  root.write("/sys/fs/cgroup/cpu.max", "90000 100000\n");
  root.write("/sys/fs/cgroup/pod/cpu.max", "75000 100000\n");
  root.write("/sys/fs/cgroup/pod/container/cpu.max", "80000 100000\n");
  CHECK(probe_machine(root.path()).usable_cpus == doctest::Approx(0.75));
}

TEST_CASE("in a container the mount itself is the group, whatever path the kernel reports") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/kubepods/not-mounted-here\n");
  root.write("/sys/fs/cgroup/cpu.max", "30000 100000\n");
  CHECK(probe_machine(root.path()).usable_cpus == doctest::Approx(0.3));
}

TEST_CASE("of quotas in v1 and v2 the lower applies") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "4:cpu,cpuacct:/x\n0::/y\n");
  root.write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "60000\n");
  root.write("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/unified/y/cpu.max", "40000 100000\n");
  CHECK(probe_machine(root.path()).usable_cpus == doctest::Approx(0.4));
}

TEST_CASE("no contents of /proc or /sys leave a process without CPUs") {
  const std::array<std::string, 14> contents{
      "",           "\n",         "max\n",           "max 100000\n",    "-1\n",
      "0 100000\n", "100000 0\n", "-5 100000\n",     "nan inf\n",       "inf 100000\n",
      "1e999 1\n",  "0\n",        "garbage\n\xff\n", "100000 garbage\n"};
  for (const std::string& text : contents) {
    CAPTURE(text);
    const FakeRoot root;
    root.write("/proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/x\n0::/x\n");
    for (const std::string file :
         {"/x/cpu.max", "/cpu/x/cpu.cfs_quota_us", "/cpu/x/cpu.cfs_period_us", "/x/memory.max",
          "/memory/x/memory.limit_in_bytes", "/x/cpu.stat", "/x/memory.stat"}) {
      root.write("/sys/fs/cgroup" + file, text);
    }
    const MachineInfo info = probe_machine(root.path());
    CHECK(info.usable_cpus >= 1);
    CHECK(info.memory_bytes > 0);
    CHECK(info.memory_available_bytes > 0);
  }
}

TEST_CASE("malformed group paths do no harm") {
  for (const std::string path : {"", "x", "x/y", "//", "/../..", ":", "0::", "::x", "0:x"}) {
    CAPTURE(path);
    const FakeRoot root;
    root.write("/proc/self/cgroup", "0::" + path + "\n" + path + "\n4:cpu:" + path + "\n");
    CHECK(probe_machine(root.path()).usable_cpus >= 1);
  }
}

TEST_CASE("random bytes in every file do no harm") {
  RandomStream random({.seed = 7, .stage = 1});
  const auto bytes = [&] {
    using namespace std::string_view_literals;
    constexpr std::string_view kAlphabet = "0123456789 -.:/\n\tcpumax,total=some\0\xff"sv;
    std::string text;
    for (std::uint64_t i = random.below(80); i > 0; --i) {
      text += kAlphabet[random.below(kAlphabet.size())];
    }
    return text;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const FakeRoot root;
    root.write("/proc/self/cgroup", bytes());
    root.write("/proc/cpuinfo", bytes());
    root.write("/proc/meminfo", "MemTotal:" + bytes());
    root.write("/proc/stat", "cpu " + bytes());
    root.write("/sys/fs/cgroup/cpu.max", bytes());
    root.write("/sys/fs/cgroup/cpu.stat", "nr_periods " + bytes());
    root.write("/proc/pressure/memory", "some " + bytes());
    const MachineInfo info = probe_machine(root.path());
    CHECK(info.usable_cpus > 0);
    CHECK(info.memory_bytes >= 0);
    MachineWatch watch;
    watch.add(read_machine(root.path(), {0, 1}));
    watch.add(read_machine(root.path(), {0, 1}));
    CHECK_FALSE(watch.seen().other_load.has_value());
  }
}

TEST_CASE("an Arm processor is named by its part numbers") {
  const FakeRoot root;
  root.write("/proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n");
  CHECK(probe_machine(root.path()).cpu == "Arm implementer 0x41, part 0xd0c");
}

TEST_CASE("CPU times are those of the CPUs that this process may use") {
  const FakeRoot root;
  root.write("/proc/stat",
             "cpu  600 0 0 0 0 0 0 0\ncpu0 100 0 50 20 5 1 2 7\ncpu1 200 0 0 0 0 0 0 0\n"
             "cpu10 300 0 0 0 0 0 0 0\nintr 1\n");
  const auto times = read_cpu_times(root.path(), {0, 10});
  CHECK(times->cpus == 2);
  CHECK(times->busy == 453);
  CHECK(times->steal == 7);
  CHECK(times->total == 485);
  CHECK(read_cpu_times(root.path())->total == 600);
  CHECK(read_cpu_times(root.path(), {5})->total == 600);
}

TEST_CASE("whole CPUs are at least one, whatever a recording holds") {
  CHECK(whole_cpus(3.9) == 3);
  CHECK(whole_cpus(0.5) == 1);
  CHECK(whole_cpus(-1e300) == 1);
  CHECK(whole_cpus(std::numeric_limits<double>::quiet_NaN()) == 1);
  CHECK(whole_cpus(1e300) == 1 << 20);
}

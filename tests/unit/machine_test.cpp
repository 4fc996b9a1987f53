#include "cachebisect/base/machine.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace cachebisect;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for the file system's root.
class FakeRoot {
 public:
  FakeRoot() : path_(fs::temp_directory_path() / ("fakeroot" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    write("/proc/cpuinfo",
          "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu hypervisor\n");
    write("/proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n");
    write("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Test OS 1\"\n");
  }
  ~FakeRoot() { fs::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& file, const std::string& text) const {
    const fs::path path = path_.string() + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a machine without limits") {
  const FakeRoot root;
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.cpu == "Test CPU 9000");
  CHECK(info.memory_bytes == 8000000.0 * 1024);
  CHECK(info.memory_available_bytes == 6000000.0 * 1024);
  CHECK(info.virtualized == true);
  CHECK(info.os.starts_with("Test OS 1, Linux"));
  CHECK(info.usable_cpus >= 1);
}

TEST_CASE("cgroup v2 limits hold, a parent's too") {
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

TEST_CASE("cgroup v1 limits") {
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

TEST_CASE("odd contents do no harm") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "nonsense\n::\n0::/\n");
  root.write("/sys/fs/cgroup/cpu.max", "max\n");
  root.write("/proc/meminfo", "MemTotal: many\n");
  root.write("/proc/cpuinfo", "");
  const MachineInfo info = probe_machine(root.path());
  CHECK(info.cpu == "unknown");
  CHECK_FALSE(info.virtualized.has_value());
}

TEST_CASE("the stolen share is that between two readings") {
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

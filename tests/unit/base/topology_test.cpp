#include "cachebisect/base/topology.hpp"

#include <algorithm>

#include "support/fake_root.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/machine.hpp"

using namespace cachebisect;
using test::FakeRoot;

namespace {

void write_siblings(const FakeRoot& root, int cpu, const std::string& list,
                    const std::string& name = "thread_siblings_list") {
  root.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + name,
             list + "\n");
}

/// Four cores of two hyper-threads each, on two memory nodes: CPUs c and c + 4 share core c.
void write_two_nodes(const FakeRoot& root) {
  for (int cpu = 0; cpu < 8; ++cpu) {
    write_siblings(root, cpu, std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  }
  root.write("/sys/devices/system/node/online", "0-1\n");
  root.write("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  root.write("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
}

}  // namespace

TEST_CASE("hyper-threads of one core count once, and memory nodes are counted") {
  const FakeRoot root;
  write_two_nodes(root);
  const Topology all = topology_of({0, 1, 2, 3, 4, 5, 6, 7}, root.path());
  CHECK(all.cores == 4);
  CHECK(all.numa_nodes == 2);
}

TEST_CASE("only the CPUs that the process may use count") {
  const FakeRoot root;
  write_two_nodes(root);
  CHECK(topology_of({0, 4}, root.path()).cores == 1);
  CHECK(topology_of({0, 5}, root.path()).cores == 2);
  CHECK(topology_of({0, 4}, root.path()).numa_nodes == 1);
  CHECK(topology_of({1, 2}, root.path()).numa_nodes == 2);
  CHECK_FALSE(topology_of({}, root.path()).cores.has_value());
}

TEST_CASE("newer kernels' name of the list is read first") {
  const FakeRoot root;
  write_siblings(root, 0, "0-1", "core_cpus_list");
  write_siblings(root, 1, "0-1", "core_cpus_list");
  write_siblings(root, 0, "0");
  write_siblings(root, 1, "1");
  CHECK(topology_of({0, 1}, root.path()).cores == 1);
}

TEST_CASE("what cannot be read is not known, and malformed lists do no harm") {
  const FakeRoot empty;
  CHECK_FALSE(topology_of({0, 1}, empty.path()).cores.has_value());
  CHECK_FALSE(topology_of({0, 1}, empty.path()).numa_nodes.has_value());
  const FakeRoot root;
  write_siblings(root, 0, "0,2");
  for (const std::string list : {"", "x", "5", "0-", "-1", "3-1", "1,,2", "0-99999999", "1;2"}) {
    CAPTURE(list);
    write_siblings(root, 1, list);
    root.write("/sys/devices/system/node/online", list + "\n");
    CHECK(topology_of({0, 1, 2}, root.path()).cores == 3);
    CHECK_FALSE(topology_of({0, 1}, root.path()).numa_nodes.has_value());
  }
}

TEST_CASE("lists of the kernel are numbers and ranges") {
  CHECK(parse_cpu_list("0") == std::vector{0});
  CHECK(parse_cpu_list("4-6,0") == std::vector{0, 4, 5, 6});
  CHECK(parse_cpu_list("").empty());
  CHECK(parse_cpu_list("1,x").empty());
  CHECK(parse_cpu_list("65536").empty());
}

TEST_CASE("the usable cores are physical ones, within the quota") {
  const std::vector<int> cpus = allowed_cpus();
  const FakeRoot root;
  std::string all;
  for (const int cpu : cpus) all += (all.empty() ? "" : ",") + std::to_string(cpu);
  for (const int cpu : cpus) write_siblings(root, cpu, all);
  MachineInfo machine = probe_machine(root.path());
  CHECK(machine.usable_cores == 1);
  CHECK(machine.usable_cpus == static_cast<double>(cpus.size()));
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  machine = probe_machine(root.path());
  CHECK(machine.usable_cores == doctest::Approx(0.5));
  CHECK(machine.usable_cpus == doctest::Approx(0.5));
}

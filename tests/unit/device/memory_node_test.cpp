#include "cachebisect/device/memory_node.hpp"

#include <optional>

#include "support/fake_root.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("the memory node of a PCI device is read, if the system tells it") {
  const test::FakeRoot root;
  const auto node_with = [&](const char* text) {
    root.write("/sys/bus/pci/devices/0000:0a:00.0/numa_node", text);
    return memory_node_of("0000:0A:00.0", root.path());
  };
  CHECK(node_with("1\n") == 1);
  CHECK(node_with("0\n") == 0);
  CHECK(node_with("-1\n") == std::nullopt);
  CHECK(node_with("1024\n") == std::nullopt);
  CHECK(node_with("x\n") == std::nullopt);
  CHECK(memory_node_of("0000:0B:00.0", root.path()) == std::nullopt);
  CHECK(memory_node_of("", root.path()) == std::nullopt);
}

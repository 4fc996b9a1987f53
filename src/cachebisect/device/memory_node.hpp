// Which memory node (NUMA) the pages come from that a thread is the first to use.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The node that a PCI device such as "0000:0A:00.0" is attached to, by /sys/bus/pci below `root`.
/// Empty if the system does not tell, as on a machine with one node.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<int> memory_node_of(
    const std::string& pci_bus_id, const std::string& root = "");

/// During its lifetime, the calling thread takes pages from `node` as long as there are some, and
/// then from others. Does nothing without a node, or if the kernel refuses, as in some containers.
class CACHEBISECT_INTERNAL_API PreferredMemoryNode {
 public:
  explicit PreferredMemoryNode(std::optional<int> node) noexcept;
  ~PreferredMemoryNode();
  PreferredMemoryNode(const PreferredMemoryNode&) = delete;
  PreferredMemoryNode& operator=(const PreferredMemoryNode&) = delete;

  static constexpr int kMaxNodes = 1024;

 private:
  using Nodes = std::array<unsigned long, kMaxNodes / (8 * sizeof(unsigned long))>;

  bool is_set_ = false;
  int old_mode_ = 0;
  Nodes old_nodes_{};
};

}  // namespace cachebisect

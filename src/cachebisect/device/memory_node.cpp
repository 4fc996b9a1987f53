#include "cachebisect/device/memory_node.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cachebisect/base/proc_files.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kBits = 8 * sizeof(unsigned long);

}  // namespace

std::optional<int> memory_node_of(const std::string& pci_bus_id, const std::string& root) {
  std::string name = pci_bus_id;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto line = first_line(root + "/sys/bus/pci/devices/" + name + "/numa_node");
  if (!line) return std::nullopt;
  int node = -1;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), node);
  const bool known = error == std::errc() && node >= 0 && node < PreferredMemoryNode::kMaxNodes;
  return known ? std::optional(node) : std::nullopt;
}

PreferredMemoryNode::PreferredMemoryNode(std::optional<int> node) noexcept {
  if (!node || *node < 0 || *node >= kMaxNodes) return;
  if (syscall(SYS_get_mempolicy, &old_mode_, old_nodes_.data(), kMaxNodes, nullptr, 0UL) != 0) {
    return;
  }
  Nodes nodes{};
  const auto number = static_cast<std::size_t>(*node);
  nodes[number / kBits] = 1UL << (number % kBits);
  is_set_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes.data(), kMaxNodes) == 0;
}

PreferredMemoryNode::~PreferredMemoryNode() {
  if (is_set_) syscall(SYS_set_mempolicy, old_mode_, old_nodes_.data(), kMaxNodes);
}

}  // namespace cachebisect

#include "cachebisect/replay/device_watch.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

CopyPeak copy_if_there_is_room(Device& device, const DeviceMonitor& monitor) {
  try {
    return measure_copy_peak(device, monitor, {});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
  }
  return {};
}

}  // namespace

DeviceWatch::DeviceWatch(Device& device)
    : monitor_(device.info().facts.pci_bus_id, device.info().facts.uuid),
      copy_(copy_if_there_is_room(device, monitor_)) {}

void DeviceWatch::complete(ChainDescription& chain) const {
  if (copy_.gb_per_s) chain.copy_gb_per_s = copy_.gb_per_s;
  monitor_.complete(chain.device_facts);
  chain.device_facts.pcie_generation = copy_.during.pcie_generation;
  chain.device_facts.pcie_width = copy_.during.pcie_width;
}

}  // namespace cachebisect

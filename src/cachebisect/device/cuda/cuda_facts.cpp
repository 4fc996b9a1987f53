#include "cachebisect/device/cuda/cuda_facts.hpp"

#include <array>
#include <string>

namespace cachebisect::cuda {
namespace {

/// "GPU-" and 16 bytes as hexadecimal groups of 4, 2, 2, 2 and 6 bytes.
std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceFacts read_facts(int ordinal, const cudaDeviceProp& properties) {
  DeviceFacts facts;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) {
    facts.cuda_driver_version = version_text(version);
  }
  if (cudaRuntimeGetVersion(&version) == cudaSuccess && version > 0) {
    facts.cuda_runtime_version = version_text(version);
  }
  facts.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  std::array<char, 32> bus_id{};
  if (cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), ordinal) ==
      cudaSuccess) {
    facts.pci_bus_id = bus_id.data();
  }
  facts.uuid = uuid_text(properties.uuid);
  (void)cudaGetLastError();
  return facts;
}

}  // namespace cachebisect::cuda

#include "cachebisect/device/nvml/nvml_library.hpp"

namespace cachebisect::nvml {

Library::Library(const std::string& file) : library_(file, SharedLibrary::Unload::never) {
  if (!library_.is_open()) {
    problem_ = library_.error();
    return;
  }
  load();
  if (functions_.init == nullptr || functions_.shutdown == nullptr) {
    problem_ = file +
               " lacks nvmlInit_v2 or nvmlShutdown: the driver is older than 2013, or the "
               "file is another library";
    return;
  }
  const Status status = functions_.init();
  if (status == kSuccess) return;
  problem_ = "nvmlInit_v2 failed with " + std::to_string(status);
  if (functions_.error_string != nullptr) {
    problem_ += std::string(" (") + functions_.error_string(status) + ")";
  }
}

Library::~Library() {
  if (usable()) (void)functions_.shutdown();
}

void Library::load() {
  Functions& f = functions_;
  const auto find = [this](auto& function, const char* symbol) {
    function = library_.function<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(f.init, "nvmlInit_v2");
  find(f.shutdown, "nvmlShutdown");
  find(f.error_string, "nvmlErrorString");
  find(f.driver_version, "nvmlSystemGetDriverVersion");
  find(f.cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  find(f.device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  find(f.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(f.clock, "nvmlDeviceGetClockInfo");
  find(f.power, "nvmlDeviceGetPowerUsage");
  find(f.throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (f.throttle_reasons == nullptr) {
    find(f.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // before driver 535
  }
  find(f.utilization, "nvmlDeviceGetUtilizationRates");
  find(f.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  find(f.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  find(f.max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  find(f.max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  find(f.persistence_mode, "nvmlDeviceGetPersistenceMode");
  find(f.mig_mode, "nvmlDeviceGetMigMode");
}

std::string Library::driver_version() const {
  constexpr unsigned kSize = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  std::array<char, kSize> text{};
  if (!usable() || functions_.driver_version == nullptr) return {};
  if (functions_.driver_version(text.data(), kSize - 1) != kSuccess) return {};
  return text.data();
}

std::string Library::cuda_version() const {
  int version = 0;
  if (!usable() || functions_.cuda_version == nullptr) return {};
  if (functions_.cuda_version(&version) != kSuccess || version <= 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace cachebisect::nvml

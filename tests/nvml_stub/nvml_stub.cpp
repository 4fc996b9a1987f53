// A library in the place of NVIDIA's NVML. Two devices; what they answer is set by environment
// variables, or by nvml_stub_set() in the process that opened it:
//
//   NVML_STUB_INIT       what nvmlInit_v2 returns
//   NVML_STUB_STATUS     what all functions that read a device return
//   NVML_STUB_SM_MHZ, NVML_STUB_MEMORY_MHZ, NVML_STUB_MILLIWATTS, NVML_STUB_REASONS,
//   NVML_STUB_UTILIZATION, NVML_STUB_PCIE_GENERATION, NVML_STUB_PCIE_WIDTH, NVML_STUB_PERSISTENCE,
//   NVML_STUB_MIG        what a device tells
//
// NVML_STUB_OLD leaves out what drivers before 535 lack.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;

struct Device {
  const char* bus_id;
  const char* uuid;
  unsigned clock_offset;  ///< tells one device's answers from the other's
};
Device devices[] = {{"0000:3b:00.0", "GPU-aaaaaaaa-0000-0000-0000-000000000001", 0},
                    {"0000:86:00.0", "GPU-bbbbbbbb-0000-0000-0000-000000000002", 100}};

struct Settings {
  std::mutex mutex;
  std::map<std::string, long long> values;
};

Settings& settings() {
  static Settings all;
  return all;
}

long long setting(const char* name, long long otherwise) {
  const std::scoped_lock lock(settings().mutex);
  const auto found = settings().values.find(name);
  if (found != settings().values.end()) return found->second;
  const char* const value = std::getenv(name);
  return value != nullptr ? std::strtoll(value, nullptr, 0) : otherwise;
}

int give(const char* name, unsigned otherwise, unsigned* to) {
  *to = static_cast<unsigned>(setting(name, otherwise));
  return static_cast<int>(setting("NVML_STUB_STATUS", kSuccess));
}

int find(const char* name, const char* Device::*member, void** device) {
  for (Device& each : devices) {
    if (std::strcmp(each.*member, name) != 0) continue;
    *device = &each;
    return kSuccess;
  }
  return kNotFound;
}

int open_count = 0;

}  // namespace

extern "C" {

void nvml_stub_set(const char* name, long long value) {
  const std::scoped_lock lock(settings().mutex);
  settings().values[name] = value;
}
void nvml_stub_reset() {
  const std::scoped_lock lock(settings().mutex);
  settings().values.clear();
}
int nvml_stub_open_count() { return open_count; }

int nvmlInit_v2() {
  const int status = static_cast<int>(setting("NVML_STUB_INIT", kSuccess));
  if (status == kSuccess) ++open_count;
  return status;
}
int nvmlShutdown() {
  --open_count;
  return kSuccess;
}
const char* nvmlErrorString(int status) {
  return status == 9 ? "Driver Not Loaded" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.65.06", size);
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  return find(bus_id, &Device::bus_id, device);
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return find(uuid, &Device::uuid, device);
}
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* mhz) {
  const int status =
      kind == 1 ? give("NVML_STUB_SM_MHZ", 1755, mhz) : give("NVML_STUB_MEMORY_MHZ", 2619, mhz);
  *mhz += static_cast<Device*>(device)->clock_offset;
  return status;
}
int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* milliwatts) {
  return give("NVML_STUB_MILLIWATTS", 412500, milliwatts);
}
int nvmlDeviceGetUtilizationRates(void* /*device*/, unsigned* rates) {
  rates[1] = 30;
  return give("NVML_STUB_UTILIZATION", 87, rates);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* /*device*/, unsigned* generation) {
  return give("NVML_STUB_PCIE_GENERATION", 4, generation);
}
int nvmlDeviceGetCurrPcieLinkWidth(void* /*device*/, unsigned* width) {
  return give("NVML_STUB_PCIE_WIDTH", 8, width);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* /*device*/, unsigned* generation) {
  return give("NVML_STUB_MAX_PCIE_GENERATION", 5, generation);
}
int nvmlDeviceGetMaxPcieLinkWidth(void* /*device*/, unsigned* width) {
  return give("NVML_STUB_MAX_PCIE_WIDTH", 16, width);
}
int nvmlDeviceGetPersistenceMode(void* /*device*/, unsigned* mode) {
  return give("NVML_STUB_PERSISTENCE", 1, mode);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = static_cast<unsigned long long>(setting("NVML_STUB_REASONS", 0));
  return static_cast<int>(setting("NVML_STUB_STATUS", kSuccess));
}
#ifndef NVML_STUB_OLD
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksThrottleReasons(device, reasons);
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return kSuccess;
}
int nvmlDeviceGetMigMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *pending = 0;
  return give("NVML_STUB_MIG", 0, current);
}
#endif
}

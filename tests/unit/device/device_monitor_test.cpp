#include "cachebisect/device/nvml/device_monitor.hpp"

#include <memory>
#include <string>

#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/shared_library.hpp"

using namespace cachebisect;
using test::has;

namespace {

const std::string kFolder = CACHEBISECT_BINARY_DIR "/tests/nvml_stub/";
const std::string kCurrent = kFolder + "current/libnvidia-ml.so.1";
const std::string kOld = kFolder + "old/libnvidia-ml.so.1";
constexpr const char* kFirstBus = "0000:3b:00.0";
constexpr const char* kSecondBus = "0000:86:00.0";
constexpr const char* kSecondUuid = "GPU-bbbbbbbb-0000-0000-0000-000000000002";

/// The stub, with its own settings until the test ends.
class Stub {
 public:
  explicit Stub(const std::string& file = kCurrent) : library_(file, SharedLibrary::Unload::never) {
    REQUIRE_MESSAGE(library_.is_open(), library_.error());
  }
  ~Stub() { library_.function<void (*)()>("nvml_stub_reset")(); }
  Stub(const Stub&) = delete;
  Stub& operator=(const Stub&) = delete;

  void set(const char* name, long long value) const {
    library_.function<void (*)(const char*, long long)>("nvml_stub_set")(name, value);
  }
  [[nodiscard]] int open_count() const {
    return library_.function<int (*)()>("nvml_stub_open_count")();
  }

 private:
  SharedLibrary library_;
};

bool is_empty(const DeviceReading& reading) {
  return !reading.sm_clock_mhz && !reading.memory_clock_mhz && !reading.power_watts &&
         !reading.utilization && !reading.pcie_generation && !reading.pcie_width &&
         !reading.throttling;
}

}  // namespace

TEST_CASE("a device monitor reads what the driver tells, in the units of the reading") {
  const Stub stub;
  const DeviceMonitor monitor(kFirstBus, "", kCurrent);
  CHECK(monitor.problem().empty());
  const DeviceReading reading = monitor.read();
  CHECK(reading.sm_clock_mhz == 1755);
  CHECK(reading.memory_clock_mhz == 2619);
  CHECK(*reading.power_watts == doctest::Approx(412.5));
  CHECK(*reading.utilization == doctest::Approx(0.87));
  CHECK(reading.pcie_generation == 4);
  CHECK(reading.pcie_width == 8);
  REQUIRE(reading.throttling);
  CHECK_FALSE(reading.throttled());
}

TEST_CASE("a device is found by its bus id, else by its UUID") {
  const Stub stub;
  CHECK(DeviceMonitor(kSecondBus, "", kCurrent).read().sm_clock_mhz == 1855);
  CHECK(DeviceMonitor("", kSecondUuid, kCurrent).read().sm_clock_mhz == 1855);
  CHECK(DeviceMonitor("0000:ff:00.0", kSecondUuid, kCurrent).read().sm_clock_mhz == 1855);
  const DeviceMonitor unknown("0000:ff:00.0", "", kCurrent);
  CHECK(has(unknown.problem(), "0000:ff:00.0"));
  CHECK(is_empty(unknown.read()));
}

TEST_CASE("reasons to throttle are told apart by heat and power") {
  const Stub stub;
  const DeviceMonitor monitor(kFirstBus, "", kCurrent);
  const auto with = [&](long long reasons) {
    stub.set("NVML_STUB_REASONS", reasons);
    return *monitor.read().throttling;
  };
  CHECK_FALSE(with(0x1).any());    // idle
  CHECK_FALSE(with(0x2).any());    // application clocks
  CHECK_FALSE(with(0x100).any());  // display clocks
  CHECK((with(0x4).power && !with(0x4).thermal));
  CHECK((with(0x80 | 0x8).power && !with(0x80 | 0x8).thermal));
  CHECK((with(0x20).thermal && !with(0x20).power));
  CHECK((with(0x40 | 0x8).thermal && !with(0x40 | 0x8).power));
  CHECK(with(0x8).thermal);
}

TEST_CASE("without NVML nothing is read, and the loader's reason is kept") {
  const DeviceMonitor monitor(kFirstBus, "", "libno-such-nvml.so.1");
  CHECK(has(monitor.problem(), "libno-such-nvml.so.1"));
  CHECK(is_empty(monitor.read()));
  DeviceFacts facts;
  monitor.complete(facts);
  CHECK(facts.driver_version.empty());
  CHECK(has(DeviceMonitor(kFirstBus, "", "libm.so.6").problem(), "nvmlInit_v2"));
}

TEST_CASE("a driver that is not loaded is a problem with NVML's own words") {
  const Stub stub;
  stub.set("NVML_STUB_INIT", 9);
  const DeviceMonitor monitor(kFirstBus, "", kCurrent);
  CHECK(has(monitor.problem(), "Driver Not Loaded"));
  CHECK(is_empty(monitor.read()));
}

TEST_CASE("an old driver lacks functions; the others are read") {
  const Stub stub(kOld);
  stub.set("NVML_STUB_REASONS", 0x4);
  const DeviceMonitor monitor(kFirstBus, "", kOld);
  CHECK(monitor.read().sm_clock_mhz == 1755);
  CHECK(monitor.read().throttled());  // by the function's former name
  DeviceFacts facts;
  monitor.complete(facts);
  CHECK(facts.driver_version == "580.65.06");
  CHECK(facts.cuda_driver_version.empty());
  CHECK_FALSE(facts.mig_mode);
}

TEST_CASE("a device that answers with errors, or with no number, leaves the reading empty") {
  const Stub stub;
  const DeviceMonitor monitor(kFirstBus, "", kCurrent);
  stub.set("NVML_STUB_STATUS", 3);  // not supported
  CHECK(is_empty(monitor.read()));
  stub.set("NVML_STUB_STATUS", 0);
  stub.set("NVML_STUB_PCIE_WIDTH", 0xFFFFFFFF);
  stub.set("NVML_STUB_PCIE_GENERATION", 0);
  stub.set("NVML_STUB_SM_MHZ", 0);
  CHECK_FALSE(monitor.read().pcie_width);
  CHECK_FALSE(monitor.read().pcie_generation);
  CHECK_FALSE(monitor.read().sm_clock_mhz);
}

TEST_CASE("facts about driver, link and modes are added to those that are known") {
  const Stub stub;
  stub.set("NVML_STUB_MIG", 1);
  DeviceFacts facts;
  facts.cuda_runtime_version = "12.8";
  DeviceMonitor(kFirstBus, "", kCurrent).complete(facts);
  CHECK(facts.driver_version == "580.65.06");
  CHECK(facts.cuda_driver_version == "13.0");
  CHECK(facts.cuda_runtime_version == "12.8");
  CHECK(facts.max_pcie_generation == 5);
  CHECK(facts.max_pcie_width == 16);
  CHECK(facts.persistence_mode == true);
  CHECK(facts.mig_mode == true);
}

TEST_CASE("NVML is closed as often as it was opened, and not opened without a device") {
  const Stub stub;
  {
    const DeviceMonitor one(kFirstBus, "", kCurrent);
    const DeviceMonitor other(kSecondBus, "", kCurrent);
    CHECK(stub.open_count() == 2);
    const DeviceMonitor none("", "", kCurrent);
    CHECK(stub.open_count() == 2);
    CHECK(none.problem().empty());
  }
  CHECK(stub.open_count() == 0);
}

// What a replayer tells of its device. CTest puts the stub of NVML on the loader's path.
#include "cachebisect/replay/device_watch.hpp"

#include <memory>

#include "support/fake_device.hpp"
#include "support/forwarding_device.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

/// The cpu, with the kind and the address of a GPU.
class AddressedDevice final : public test::ForwardingDevice {
 public:
  explicit AddressedDevice(std::shared_ptr<MemoryResource> memory = host_memory())
      : ForwardingDevice(make_cpu_device()), memory_(std::move(memory)) {
    info_.kind = DeviceKind::cuda;
    info_.name = "addressed";
    info_.facts.pci_bus_id = "0000:86:00.0";
    info_.facts.cuda_runtime_version = "12.8";
  }
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return memory_; }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] bool launching_costs() const noexcept override { return true; }

 private:
  DeviceInfo info_;
  std::shared_ptr<MemoryResource> memory_;
};

class NoMemory final : public MemoryResource {
 public:
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::device; }
  [[nodiscard]] std::byte* allocate(std::size_t /*bytes*/) override {
    throw Error(ErrorKind::device, "out of memory");
  }
  void deallocate(std::byte* /*data*/, std::size_t /*bytes*/) noexcept override {}
};

}  // namespace

TEST_CASE("a block holds what the device was doing when it ended") {
  PipelineReplayer replayer(test::random_chain({.workers = 1}), std::make_shared<AddressedDevice>(),
                            std::make_shared<test::RecordingStep>());
  const BlockResult block = replayer.run({{ArmKind::live, 0, 0, {}}, 4, 1, 0}, {});
  CHECK(block.device.sm_clock_mhz == 1855);  // of the device with this bus id
  CHECK(block.device.throttling.has_value());
  CHECK(block.device_idle_share == 1);  // each step ended when it was submitted
  const ChainDescription chain = replayer.describe();
  CHECK(chain.device_facts.driver_version == "580.65.06");
  CHECK(chain.device_facts.cuda_runtime_version == "12.8");
  CHECK(chain.device_facts.pcie_generation == 4);  // during the copy
  CHECK(chain.device_facts.max_pcie_width == 16);
  CHECK(chain.device_facts.environment.has_value());
  CHECK(chain.copy_gb_per_s.value_or(0) > 0);
}

TEST_CASE("the cpu has no readings, facts or bandwidth") {
  PipelineReplayer replayer(test::random_chain({}), make_cpu_device(),
                            std::make_shared<test::RecordingStep>());
  const BlockResult block = replayer.run({{ArmKind::live, 0, 0, {}}, 4, 1, 0}, {});
  CHECK_FALSE(block.device.sm_clock_mhz);
  CHECK_FALSE(block.device_idle_share);
  const ChainDescription chain = replayer.describe();
  CHECK(chain.device_facts.driver_version.empty());
  CHECK_FALSE(chain.device_facts.environment);
  CHECK_FALSE(chain.copy_gb_per_s);
}

TEST_CASE("the pinned peak is bytes over the time between two events") {
  test::FakeDevice device(0.004);
  const CopyPeak peak = measure_copy_peak(device, DeviceMonitor("", ""), {});
  CHECK(*peak.gb_per_s == doctest::Approx((64 << 20) / 0.004 / 1e9));
  CHECK(device.copies_made >= 3);
}

TEST_CASE("the pinned peak of an emulated device is the configured bandwidth") {
  const auto device = make_emulated_device({.copy_gb_per_s = 25});
  CHECK(measure_copy_peak(*device, DeviceMonitor("", ""), {}).gb_per_s == 25);
}

TEST_CASE("a device without room for the copy's probe is used without it") {
  AddressedDevice device(std::make_shared<NoMemory>());
  const DeviceWatch watch(device);
  ChainDescription chain;
  watch.complete(chain);
  CHECK_FALSE(chain.copy_gb_per_s);
  CHECK(chain.device_facts.driver_version == "580.65.06");
}

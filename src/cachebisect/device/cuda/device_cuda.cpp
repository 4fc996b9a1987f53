// A CUDA device through the runtime API, which is linked statically and loads the driver only when
// it is called.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/cuda/cuda_checksums.hpp"
#include "cachebisect/device/cuda/cuda_clock.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"
#include "cachebisect/device/cuda/cuda_facts.hpp"
#include "cachebisect/device/cuda/cuda_handles.hpp"
#include "cachebisect/device/cuda/cuda_memory.hpp"
#include "cachebisect/device/cuda/cuda_ops.hpp"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/memory_node.hpp"

namespace cachebisect {
namespace {

using cuda::check;
using cuda::CudaClock;
using cuda::CudaEvent;
using cuda::CudaStream;
using cuda::read_facts;
using cuda::StreamList;
using cuda::use_device;
using cuda::version_text;

/// Why there is no device at all.
[[noreturn]] void refuse_without_devices(cudaError_t status) {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  std::string found;
  std::string remedy;
  if (driver == 0) {
    found = "no NVIDIA driver was found";
    remedy = "install one";
  } else if (status == cudaErrorInsufficientDriver) {
    found = "the NVIDIA driver serves CUDA up to " + version_text(driver) + ", this build needs " +
            version_text(CUDART_VERSION);
    remedy = "update the driver";
  } else {
    found = "there is an NVIDIA driver, but no device";
    if (status != cudaSuccess) found += std::string(" (") + cudaGetErrorString(status) + ")";
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
      found += ", CUDA_VISIBLE_DEVICES being \"" + std::string(visible) + "\"";
    }
    remedy = "see nvidia-smi -L";
  }
  throw Error(ErrorKind::device,
              "CUDA: " + found + "; " + remedy + ", or use --device cpu or --device emulated");
}

std::string device_list(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    list += (list.empty() ? "" : ", ") + std::string("cuda:") + std::to_string(i) + " (" +
            properties.name + ")";
  }
  return list;
}

void require_device(int ordinal) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0) refuse_without_devices(status);
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorKind::device, "there is no device cuda:" + std::to_string(ordinal) +
                                       "; found " + device_list(count));
  }
}

DeviceInfo read_info(int ordinal) {
  use_device(ordinal);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.memory_bytes = total_bytes;
  info.free_bytes = free_bytes;
  info.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  info.facts = read_facts(ordinal, properties);
  return info;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal)
      : info_(read_info(ordinal)),
        plain_(host_memory()),
        pinned_(cuda::make_pinned_memory(ordinal, memory_node_of(info_.facts.pci_bus_id))),
        device_(std::make_shared<cuda::DeviceMemory>(ordinal, streams_, releases_)),
        ops_(cuda::make_ops(ordinal)),
        clock_(ordinal, streams_) {}

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::shared_ptr<MemoryResource> slot_memory(bool pinned) override {
    return pinned ? pinned_ : plain_;
  }
  [[nodiscard]] std::shared_ptr<MemoryResource> device_memory() override { return device_; }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] bool has_data() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CudaStream>(info_.ordinal, streams_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<CudaEvent>(info_.ordinal);
  }
  [[nodiscard]] std::unique_ptr<Event> make_spinning_event() override {
    return std::make_unique<CudaEvent>(info_.ordinal, CudaEvent::Wait::spin);
  }
  [[nodiscard]] Stream* default_stream() noexcept override { return &default_stream_; }

  void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes, Stream& stream,
                      bool blocking) override {
    use_device(info_.ordinal);
    auto& queue = dynamic_cast<CudaStream&>(stream);
    if (bytes > 0) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, queue.get()),
            "cudaMemcpyAsync");
    }
    if (blocking) queue.drain();
  }

  void record(Event& event, Stream& stream) override {
    use_device(info_.ordinal);
    check(cudaEventRecord(cuda::event_of(event), cuda::stream_of(stream)), "cudaEventRecord");
  }

  void wait(Stream& stream, const Event& event) override {
    use_device(info_.ordinal);
    check(cudaStreamWaitEvent(cuda::stream_of(stream), cuda::event_of(event), 0),
          "cudaStreamWaitEvent");
  }

  void synchronize(const Event& event) override {
    use_device(info_.ordinal);
    check(cudaEventSynchronize(cuda::event_of(event)), "cudaEventSynchronize");
  }

  [[nodiscard]] bool synchronize_for(const Event& event, double seconds) override {
    use_device(info_.ordinal);
    const cudaError_t status = cudaEventQuery(cuda::event_of(event));
    if (status != cudaErrorNotReady) {
      check(status, "cudaEventQuery");
      return true;
    }
    (void)cudaGetLastError();
    if (seconds <= 0) return false;
    check(cudaEventSynchronize(cuda::event_of(event)), "cudaEventSynchronize");
    return true;
  }

  [[nodiscard]] double completion_seconds(const Event& event) override {
    use_device(info_.ordinal);
    return clock_.seconds(cuda::event_of(event));
  }

  void enqueue_work(Stream& stream, double seconds) override {
    const std::int64_t nanoseconds = std::llround(1e9 * seconds);
    if (nanoseconds <= 0) return;
    use_device(info_.ordinal);
    check(cuda::kernels::spin(nanoseconds, cuda::stream_of(stream)), "launch of the spin kernel");
  }

  [[nodiscard]] DeviceOps& ops() override { return *ops_; }

  void throw_if_failed() override {
    use_device(info_.ordinal);
    const cudaError_t status = cudaStreamQuery(cuda::stream_of(compute_stream()));
    if (status != cudaErrorNotReady) check(status, "cudaStreamQuery");
  }
  [[nodiscard]] std::uint64_t held_bytes() const override { return device_->held_bytes(); }
  bool free_unused() override { return device_->free_unused(); }
  [[nodiscard]] std::shared_ptr<const void> when_out_of_memory(
      const std::function<void()>& release) override {
    return releases_->add(release);
  }

  [[nodiscard]] std::vector<std::uint64_t> checksums(
      std::span<const ConstTensorView> tensors) override {
    use_device(info_.ordinal);
    return cuda::checksums(tensors, device_, compute_stream());
  }

 private:
  DeviceInfo info_;
  std::shared_ptr<StreamList> streams_ = std::make_shared<StreamList>();
  std::shared_ptr<cuda::ReleaseList> releases_ = std::make_shared<cuda::ReleaseList>();
  std::shared_ptr<MemoryResource> plain_;
  std::shared_ptr<MemoryResource> pinned_;
  std::shared_ptr<cuda::DeviceMemory> device_;
  std::unique_ptr<DeviceOps> ops_;
  cuda::LegacyDefaultStream default_stream_;
  CudaClock clock_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  require_device(ordinal);
  return std::make_unique<CudaDevice>(ordinal);
}

int cuda_device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

bool built_with_cuda() noexcept { return true; }

}  // namespace cachebisect

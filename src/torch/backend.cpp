#include "backend.hpp"

#include <string>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/headeronly/version.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect::torch_module {
namespace {

/// The library stays open until the process ends, because LibTorch keeps pointers into it.
void open_cuda_library() {
  const SharedLibrary library("libtorch_cuda.so", SharedLibrary::Unload::never);
  if (library.is_open()) return;
  throw Error(ErrorKind::device,
              "this LibTorch cannot use CUDA: " + library.error() +
                  "; install LibTorch with CUDA (scripts/run --cuda), or use --device cpu");
}

}  // namespace

c10::Device open_device(const ModelStepRequest& request) {
  if (request.device != DeviceKind::cuda) return {c10::kCPU};
  open_cuda_library();
  if (!c10::impl::hasDeviceGuardImpl(c10::kCUDA) || !at::hasCUDA()) {
    throw Error(ErrorKind::device,
                "LibTorch finds no CUDA device: the driver is missing, or a step on the cpu was "
                "made earlier in this process; make the CUDA step first");
  }
  const c10::DeviceIndex devices = c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount();
  if (request.ordinal < 0 || request.ordinal >= devices) {
    throw Error(ErrorKind::device,
                "LibTorch finds no device cuda:" + std::to_string(request.ordinal) + "; it sees " +
                    std::to_string(devices));
  }
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(request.ordinal)};
}

StepLibraries library_versions(const c10::Device& device) {
  StepLibraries libraries;
  libraries.libtorch = TORCH_VERSION;
  if (device.is_cuda() && at::detail::getCUDAHooks().hasCuDNN()) {
    // 9.1.2 is 90102; before 9, 8.9.2 was 8902.
    const long version = at::detail::getCUDAHooks().versionCuDNN();
    const long major = version >= 90000 ? version / 10000 : version / 1000;
    const long rest = version >= 90000 ? version % 10000 : version % 1000;
    libraries.cudnn =
        std::to_string(major) + "." + std::to_string(rest / 100) + "." + std::to_string(rest % 100);
  }
  return libraries;
}

c10::Stream as_torch_stream(const c10::Device& device, const Stream* stream) {
  if (!device.is_cuda() || stream == nullptr || stream->native() == nullptr) {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  // An external stream's id is its cudaStream_t (c10::cuda::getStreamFromExternal).
  return c10::Stream(c10::Stream::UNSAFE, device,
                     reinterpret_cast<c10::StreamId>(stream->native()));
}

}  // namespace cachebisect::torch_module

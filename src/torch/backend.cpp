#include "backend.hpp"

#include <string>

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

/// Stays open for the life of the process: LibTorch keeps pointers into it.
void open_cuda_library() {
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* reason = dlerror();
  throw Error(ErrorKind::device,
              std::string("this LibTorch cannot use CUDA: ") +
                  (reason != nullptr ? reason : "libtorch_cuda.so cannot be opened") +
                  "; install LibTorch with CUDA (scripts/run --cuda), or use --device cpu");
}

}  // namespace

c10::Device open_device(const ModelStepRequest& request) {
  if (request.device != DeviceKind::cuda) return {c10::kCPU};
  open_cuda_library();
  if (!c10::impl::hasDeviceGuardImpl(c10::kCUDA) || !at::globalContext().hasCUDA()) {
    throw Error(ErrorKind::device,
                "LibTorch finds no CUDA device: the driver is missing, or a step on the cpu was "
                "made earlier in this process; make the CUDA step first");
  }
  const int devices = c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount();
  if (request.ordinal < 0 || request.ordinal >= devices) {
    throw Error(ErrorKind::device,
                "LibTorch finds no device cuda:" + std::to_string(request.ordinal) + "; it sees " +
                    std::to_string(devices));
  }
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(request.ordinal)};
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

// Compiled instead of device/cuda/ if there is no CUDA toolkit.
#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/profiler_range.hpp"

namespace cachebisect {

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  throw Error(ErrorKind::device,
              "this build has no CUDA; rebuild with a CUDA toolkit, or use --device cpu or "
              "--device emulated");
}

int cuda_device_count() noexcept { return 0; }

bool built_with_cuda() noexcept { return false; }

ProfilerRange::ProfilerRange(const char* /*name*/) noexcept {}
ProfilerRange::~ProfilerRange() = default;

}  // namespace cachebisect

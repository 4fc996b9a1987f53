#include "cachebisect/device/profiler_range.hpp"

#ifdef CACHEBISECT_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace cachebisect {

#ifdef CACHEBISECT_HAS_NVTX
ProfilerRange::ProfilerRange(const char* name) noexcept { (void)nvtxRangePushA(name); }
ProfilerRange::~ProfilerRange() { (void)nvtxRangePop(); }
#else
ProfilerRange::ProfilerRange(const char* /*name*/) noexcept {}
ProfilerRange::~ProfilerRange() = default;
#endif

}  // namespace cachebisect

#include "cachebisect/base/denormals.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cachebisect {
namespace {

#if defined(__SSE2__)

constexpr std::uint64_t kFlush = 0x8040;  // FTZ and DAZ of MXCSR

std::uint64_t control() noexcept { return _mm_getcsr(); }
void set_control(std::uint64_t value) noexcept { _mm_setcsr(static_cast<unsigned>(value)); }

#elif defined(__aarch64__)

constexpr std::uint64_t kFlush = 1U << 24U;  // FZ of FPCR

std::uint64_t control() noexcept {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" : : "r"(value)); }

#else

constexpr std::uint64_t kFlush = 0;

std::uint64_t control() noexcept { return 0; }
void set_control(std::uint64_t /*value*/) noexcept {}

#endif

}  // namespace

FlushDenormals::FlushDenormals() noexcept : before_(control()) { set_control(before_ | kFlush); }

FlushDenormals::~FlushDenormals() { set_control(before_); }

}  // namespace cachebisect

#include "cachebisect/data/half.hpp"

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cachebisect {
namespace {

#if defined(__x86_64__)

/// Every CPU with AVX2 has F16C, which not all compilers accept as a name here.
bool has_f16c() noexcept { return static_cast<bool>(__builtin_cpu_supports("avx2")); }

/// Both return the number of elements converted: all but the last few.
__attribute__((target("avx,f16c"))) std::size_t to_half_f16c(const float* from, std::uint16_t* to,
                                                             std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t to_float_f16c(const std::uint16_t* from, float* to,
                                                              std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
  }
  return i;
}

#else

bool has_f16c() noexcept { return false; }
std::size_t to_half_f16c(const float*, std::uint16_t*, std::size_t) noexcept { return 0; }
std::size_t to_float_f16c(const std::uint16_t*, float*, std::size_t) noexcept { return 0; }

#endif

}  // namespace

void floats_to_half(std::span<const float> from, std::span<std::uint16_t> to) noexcept {
  std::size_t i = has_f16c() ? to_half_f16c(from.data(), to.data(), from.size()) : 0;
  for (; i < from.size(); ++i) to[i] = float_to_half(from[i]);
}

void halfs_to_float(std::span<const std::uint16_t> from, std::span<float> to) noexcept {
  std::size_t i = has_f16c() ? to_float_f16c(from.data(), to.data(), from.size()) : 0;
  for (; i < from.size(); ++i) to[i] = half_to_float(from[i]);
}

void floats_to_bfloat16(std::span<const float> from, std::span<std::uint16_t> to) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = float_to_bfloat16(from[i]);
}

void bfloat16s_to_float(std::span<const std::uint16_t> from, std::span<float> to) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = bfloat16_to_float(from[i]);
}

}  // namespace cachebisect

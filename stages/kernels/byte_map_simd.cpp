#include "stages/kernels/byte_map_simd.hpp"

#include <algorithm>

#if defined(__x86_64__)

#include <immintrin.h>

#define CACHEBISECT_FMA __attribute__((target("avx2,fma")))

namespace cachebisect::stages {
namespace {

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kVectors =
    3;  ///< of which the lanes are a multiple of 1, 2, 3 and 4 channels
constexpr std::int64_t kPeriod = kVectors * kLanes;

/// The constants of a map, of one channel for each lane.
struct Constants {
  __m256 mean;
  __m256 std;
  __m256 reciprocal;
};

CACHEBISECT_FMA Constants constants_of(const ByteMap& map) noexcept {
  return {_mm256_set1_ps(map.mean()), _mm256_set1_ps(map.std()), _mm256_set1_ps(1.0F / map.std())};
}

/// Of lanes from `first` on.
CACHEBISECT_FMA Constants constants_of(const std::vector<ByteMap>& maps,
                                       std::size_t first) noexcept {
  if (maps.size() == 1) return constants_of(maps.front());
  std::array<float, kLanes> mean{};
  std::array<float, kLanes> std{};
  std::array<float, kLanes> reciprocal{};
  for (std::size_t lane = 0; lane < mean.size(); ++lane) {
    const ByteMap& map = maps[(first + lane) % maps.size()];
    mean[lane] = map.mean();
    std[lane] = map.std();
    reciprocal[lane] = 1.0F / map.std();
  }
  return {_mm256_loadu_ps(mean.data()), _mm256_loadu_ps(std.data()),
          _mm256_loadu_ps(reciprocal.data())};
}

/// As quotient() of byte_map.cpp.
CACHEBISECT_FMA __m256 quotient(__m256 value, __m256 divisor, __m256 reciprocal) noexcept {
  const __m256 near = _mm256_mul_ps(value, reciprocal);
  return _mm256_fmadd_ps(_mm256_fnmadd_ps(near, divisor, value), reciprocal, near);
}

CACHEBISECT_FMA __m256 mapped(__m256i values, const Constants& map) noexcept {
  const __m256 unit =
      quotient(_mm256_cvtepi32_ps(values), _mm256_set1_ps(255.0F), _mm256_set1_ps(1.0F / 255.0F));
  return quotient(_mm256_sub_ps(unit, map.mean), map.std, map.reciprocal);
}

CACHEBISECT_FMA __m128i load8(const std::uint8_t* from) noexcept {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
}

CACHEBISECT_FMA std::int64_t map_dense(const std::uint8_t* from, std::int64_t count, float* to,
                                       const std::vector<ByteMap>& maps) noexcept {
  const Constants a = constants_of(maps, 0);
  const Constants b = constants_of(maps, kLanes);
  const Constants c = constants_of(maps, 2 * kLanes);
  std::int64_t i = 0;
  for (; i + kPeriod <= count; i += kPeriod) {
    _mm256_storeu_ps(to + i, mapped(_mm256_cvtepu8_epi32(load8(from + i)), a));
    _mm256_storeu_ps(to + i + kLanes, mapped(_mm256_cvtepu8_epi32(load8(from + i + kLanes)), b));
    _mm256_storeu_ps(to + i + 2 * kLanes,
                     mapped(_mm256_cvtepu8_epi32(load8(from + i + 2 * kLanes)), c));
  }
  return i;
}

/// One channel of eight pixels, of which each half of `pixels` has four, as 32-bit values.
CACHEBISECT_FMA __m256i channel_of(__m256i pixels, int channel) noexcept {
  // In each 32 bits: which byte to take, and three zeros.
  const __m256i red = _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1,
                                       0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
  return _mm256_shuffle_epi8(pixels, _mm256_add_epi32(red, _mm256_set1_epi32(channel)));
}

CACHEBISECT_FMA std::int64_t map_planes(const std::uint8_t* from, std::int64_t width,
                                        const std::array<float*, 3>& planes,
                                        const std::array<const ByteMap*, 3>& maps) noexcept {
  const Constants red = constants_of(*maps[0]);
  const Constants green = constants_of(*maps[1]);
  const Constants blue = constants_of(*maps[2]);
  std::int64_t x = 0;
  // Each load of four pixels reads four bytes beyond them.
  for (; x + kLanes + 2 <= width; x += kLanes) {
    const auto* at = from + 3 * x;
    const __m256i pixels = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 12)), 1);
    _mm256_storeu_ps(planes[0] + x, mapped(channel_of(pixels, 0), red));
    _mm256_storeu_ps(planes[1] + x, mapped(channel_of(pixels, 1), green));
    _mm256_storeu_ps(planes[2] + x, mapped(channel_of(pixels, 2), blue));
  }
  return x;
}

bool can_multiply(const ByteMap& map) noexcept { return map.divides_by_multiplying(); }

bool has_fma() noexcept {
  // NOLINTNEXTLINE(readability-implicit-bool-conversion): an int to GCC, a bool to Clang
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

}  // namespace

std::int64_t map_dense_simd(const std::uint8_t* from, std::int64_t count, float* to,
                            const std::vector<ByteMap>& maps) noexcept {
  const bool fits = kPeriod % static_cast<std::int64_t>(maps.size()) == 0;
  if (!fits || !has_fma() || !std::ranges::all_of(maps, can_multiply)) return 0;
  return map_dense(from, count, to, maps);
}

std::int64_t map_planes_simd(const std::uint8_t* from, std::int64_t width,
                             const std::array<float*, 3>& planes,
                             const std::array<const ByteMap*, 3>& maps) noexcept {
  const auto multiplies = [](const ByteMap* map) { return can_multiply(*map); };
  if (!has_fma() || !std::ranges::all_of(maps, multiplies)) return 0;
  return map_planes(from, width, planes, maps);
}

}  // namespace cachebisect::stages

#else

namespace cachebisect::stages {

std::int64_t map_dense_simd(const std::uint8_t*, std::int64_t, float*,
                            const std::vector<ByteMap>&) noexcept {
  return 0;
}

std::int64_t map_planes_simd(const std::uint8_t*, std::int64_t, const std::array<float*, 3>&,
                             const std::array<const ByteMap*, 3>&) noexcept {
  return 0;
}

}  // namespace cachebisect::stages

#endif

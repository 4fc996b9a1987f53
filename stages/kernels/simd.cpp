#include "stages/kernels/simd.hpp"

#include "stages/kernels/resize_weights.hpp"

#if defined(__x86_64__)

#include <cstring>

#include <immintrin.h>

#define CACHEBISECT_AVX2 __attribute__((target("avx2")))

namespace cachebisect::stages {
namespace {

// An unaligned load; the cast is what Intel's interface wants.
CACHEBISECT_AVX2 __m128i load16(const void* from) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

template <class T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Four taps of one pixel: per channel, 16-bit pairs (tap 0, tap 1) in the lower lane, (2, 3) in the
// upper one.
CACHEBISECT_AVX2 __m256i mix_four(const std::uint8_t* pixels,
                                  const std::int16_t* weights) noexcept {
  const __m256i pairs =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                       -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m256i lanes = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i bytes = _mm256_broadcastsi128_si256(load16(pixels));
  const __m256i four = _mm256_set1_epi64x(load<std::int64_t>(weights));
  return _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, pairs),
                           _mm256_permutevar8x32_epi32(four, lanes));
}

/// 16 bytes at each address, the second in the upper lane.
CACHEBISECT_AVX2 __m256i load_lanes(const void* low, const void* high) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(low)), load16(high), 1);
}

// `sum` and four taps of two outputs, in a lane each: 32 bits per channel.
[[gnu::always_inline]] CACHEBISECT_AVX2 inline __m256i mix_lanes(
    __m256i sum, const std::uint8_t* low, const std::uint8_t* high, const std::int16_t* low_weights,
    const std::int16_t* high_weights) noexcept {
  // Per channel, 16-bit pairs of taps 0 and 1, and of taps 2 and 3.
  const __m256i first = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  const __m256i second = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
  const __m256i pixels = load_lanes(low, high);
  const __m256i weights = load_lanes(low_weights, high_weights);
  const __m256i a =
      _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, first), _mm256_shuffle_epi32(weights, 0x00));
  const __m256i b =
      _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, second), _mm256_shuffle_epi32(weights, 0x55));
  return _mm256_add_epi32(sum, _mm256_add_epi32(a, b));
}

// Four outputs at a time, of at most `taps` taps, a multiple of four. Returns how many were
// written.
[[gnu::always_inline]] CACHEBISECT_AVX2 inline std::int64_t mix_fours(
    const std::uint8_t* from, std::int64_t row_bytes, std::uint8_t* to, std::int64_t outputs,
    const AxisWeights& axis, std::int64_t taps) noexcept {
  const __m256i half = _mm256_set1_epi32(axis.half());
  const __m128i shift = _mm_cvtsi32_si128(axis.precision);
  const __m128i without_gaps =
      _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const std::int64_t last_first = (row_bytes - 4) / 3 - taps;
  const std::int16_t* weights = axis.fixed;
  std::int64_t i = 0;
  // Each store writes four bytes beyond the four outputs.
  for (; i + 6 <= outputs && axis.first[i + 3] <= last_first; i += 4) {
    const std::uint8_t* const a = from + 3 * std::int64_t{axis.first[i]};
    const std::uint8_t* const b = from + 3 * std::int64_t{axis.first[i + 1]};
    const std::uint8_t* const c = from + 3 * std::int64_t{axis.first[i + 2]};
    const std::uint8_t* const d = from + 3 * std::int64_t{axis.first[i + 3]};
    __m256i even = half;
    __m256i odd = half;
    for (std::int64_t t = 0; t < taps; t += 4) {
      const std::int16_t* const w = weights + t;
      even = mix_lanes(even, a + 3 * t, c + 3 * t, w, w + 2 * axis.taps);
      odd = mix_lanes(odd, b + 3 * t, d + 3 * t, w + axis.taps, w + 3 * axis.taps);
    }
    const __m256i words =
        _mm256_packs_epi32(_mm256_sra_epi32(even, shift), _mm256_sra_epi32(odd, shift));
    const __m128i pixels =
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * i),
                     _mm_shuffle_epi8(pixels, without_gaps));
    weights += 4 * axis.taps;
  }
  return i;
}

// With a loop over the taps that is unrolled where they are few.
CACHEBISECT_AVX2 std::int64_t mix_fours(const std::uint8_t* from, std::int64_t row_bytes,
                                        std::uint8_t* to, std::int64_t outputs,
                                        const AxisWeights& axis) noexcept {
  const std::int64_t taps = (axis.most + 3) / 4 * 4;
  if (taps == 4) return mix_fours(from, row_bytes, to, outputs, axis, 4);
  if (taps == 8) return mix_fours(from, row_bytes, to, outputs, axis, 8);
  return mix_fours(from, row_bytes, to, outputs, axis, taps);
}

CACHEBISECT_AVX2 std::int64_t mix_rgb(const std::uint8_t* from, std::int64_t row_bytes,
                                      std::uint8_t* to, std::int64_t outputs,
                                      const AxisWeights& axis) noexcept {
  const __m128i half = _mm_set1_epi32(axis.half());
  const __m128i shift = _mm_cvtsi32_si128(axis.precision);
  // The last pixel is left to the caller: the four-byte store would write past its end.
  for (std::int64_t i = mix_fours(from, row_bytes, to, outputs, axis); i + 1 < outputs; ++i) {
    const std::int64_t first = axis.first[i];
    const std::int64_t taps = (axis.count[i] + 3) / 4 * 4;
    if (3 * (first + taps) + 4 > row_bytes) return i;
    const std::int16_t* weights = axis.fixed + i * axis.taps;
    __m256i sum = _mm256_setzero_si256();
    for (std::int64_t t = 0; t < taps; t += 4)
      sum = _mm256_add_epi32(sum, mix_four(from + 3 * (first + t), weights + t));
    __m128i value = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    value = _mm_sra_epi32(_mm_add_epi32(value, half), shift);
    value = _mm_packus_epi16(_mm_packs_epi32(value, value), value);
    const std::int32_t pixel = _mm_cvtsi128_si32(value);
    std::memcpy(to + 3 * i, &pixel, sizeof pixel);
  }
  return outputs > 0 ? outputs - 1 : 0;
}

CACHEBISECT_AVX2 std::int64_t blend_rows(const std::uint8_t* from, std::int64_t stride,
                                         const AxisWeights& axis, std::int64_t output,
                                         std::uint8_t* to, std::int64_t length) noexcept {
  const std::int16_t* weights = axis.fixed + output * axis.taps;
  const std::int32_t count = axis.count[output];
  const __m256i half = _mm256_set1_epi32(axis.half());
  const __m128i shift = _mm_cvtsi32_si128(axis.precision);
  std::int64_t x = 0;
  for (; x + 16 <= length; x += 16) {
    __m256i low = half;
    __m256i high = half;
    for (std::int32_t t = 0; t < count; t += 2) {
      const std::uint8_t* row = from + t * stride + x;
      // An odd last tap is paired with itself; the padding weight of the second one is 0.
      const __m128i a = load16(row);
      const __m128i b = load16(t + 1 < count ? row + stride : row);
      const __m256i pair = _mm256_set1_epi32(load<std::int32_t>(weights + t));
      low = _mm256_add_epi32(
          low, _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), pair));
      high = _mm256_add_epi32(
          high, _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), pair));
    }
    // Packing works within lanes: put the quarters back in order.
    const __m256i words = _mm256_permute4x64_epi64(
        _mm256_packs_epi32(_mm256_sra_epi32(low, shift), _mm256_sra_epi32(high, shift)), 0xD8);
    const __m128i bytes =
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + x), bytes);
  }
  return x;
}

CACHEBISECT_AVX2 std::int64_t reverse_rgb(const std::uint8_t* from, std::uint8_t* to,
                                          std::int64_t width) noexcept {
  const __m128i order = _mm_setr_epi8(15, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2);
  std::int64_t x = 0;
  // Five pixels at a time. Each store also writes the byte before them, which the next pixels
  // overwrite, so at least one pixel must remain.
  for (; x + 6 <= width; x += 5) {
    const __m128i reversed = _mm_shuffle_epi8(load16(from + 3 * x), order);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * (width - x - 5) - 1), reversed);
  }
  return x;
}

// Stores 16 bytes: those that `r`, `g` and `b` pick from each channel.
CACHEBISECT_AVX2 void store_mixed(std::uint8_t* to, __m128i red, __m128i green, __m128i blue,
                                  __m128i r, __m128i g, __m128i b) noexcept {
  const __m128i pixels =
      _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(red, r), _mm_shuffle_epi8(green, g)),
                   _mm_shuffle_epi8(blue, b));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), pixels);
}

CACHEBISECT_AVX2 std::int64_t interleave_rgb(const std::uint8_t* red, const std::uint8_t* green,
                                             const std::uint8_t* blue, std::uint8_t* to,
                                             std::int64_t width) noexcept {
  // For each 16 of 48 bytes: where each channel's bytes go.
  const __m128i red_a = _mm_setr_epi8(0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5);
  const __m128i green_a = _mm_setr_epi8(-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1);
  const __m128i blue_a = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i red_b = _mm_setr_epi8(-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1);
  const __m128i green_b = _mm_setr_epi8(5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10);
  const __m128i blue_b = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
  const __m128i red_c =
      _mm_setr_epi8(-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1);
  const __m128i green_c =
      _mm_setr_epi8(-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1);
  const __m128i blue_c =
      _mm_setr_epi8(10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
  std::int64_t x = 0;
  for (; x + 16 <= width; x += 16) {
    const __m128i r = load16(red + x);
    const __m128i g = load16(green + x);
    const __m128i b = load16(blue + x);
    store_mixed(to + 3 * x, r, g, b, red_a, green_a, blue_a);
    store_mixed(to + 3 * x + 16, r, g, b, red_b, green_b, blue_b);
    store_mixed(to + 3 * x + 32, r, g, b, red_c, green_c, blue_c);
  }
  return x;
}

// Picks the 16 bytes of one channel from 48 bytes of RGB; `a`, `b` and `c` select from each vector.
// NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array drops the alignment of vector types
CACHEBISECT_AVX2 void store_plane(std::uint8_t* to, const __m128i (&pixels)[3], __m128i a,
                                  __m128i b, __m128i c) noexcept {
  const __m128i plane =
      _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(pixels[0], a), _mm_shuffle_epi8(pixels[1], b)),
                   _mm_shuffle_epi8(pixels[2], c));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), plane);
}

CACHEBISECT_AVX2 std::int64_t spread_rgb(const std::uint8_t* from, std::uint8_t* red,
                                         std::uint8_t* green, std::uint8_t* blue,
                                         std::int64_t width) noexcept {
  const __m128i red_a = _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i red_b = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1);
  const __m128i red_c = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13);
  const __m128i green_a =
      _mm_setr_epi8(1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i green_b = _mm_setr_epi8(-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1);
  const __m128i green_c =
      _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14);
  const __m128i blue_a = _mm_setr_epi8(2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i blue_b = _mm_setr_epi8(-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1);
  const __m128i blue_c = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15);
  std::int64_t x = 0;
  for (; x + 16 <= width; x += 16) {
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): as above
    const __m128i pixels[3] = {load16(from + 3 * x), load16(from + 3 * x + 16),
                               load16(from + 3 * x + 32)};
    store_plane(red + x, pixels, red_a, red_b, red_c);
    store_plane(green + x, pixels, green_a, green_b, green_c);
    store_plane(blue + x, pixels, blue_a, blue_b, blue_c);
  }
  return x;
}

// NOLINTNEXTLINE(readability-implicit-bool-conversion): an int to GCC, a bool to Clang
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") != 0; }

}  // namespace

std::int64_t mix_rgb_simd(const std::uint8_t* from, std::int64_t row_bytes, std::uint8_t* to,
                          std::int64_t outputs, const AxisWeights& axis) noexcept {
  return has_avx2() ? mix_rgb(from, row_bytes, to, outputs, axis) : 0;
}

std::int64_t blend_rows_simd(const std::uint8_t* from, std::int64_t stride, const AxisWeights& axis,
                             std::int64_t output, std::uint8_t* to, std::int64_t length) noexcept {
  return has_avx2() ? blend_rows(from, stride, axis, output, to, length) : 0;
}

std::int64_t reverse_rgb_simd(const std::uint8_t* from, std::uint8_t* to,
                              std::int64_t width) noexcept {
  return has_avx2() ? reverse_rgb(from, to, width) : 0;
}

std::int64_t interleave_rgb_simd(const std::uint8_t* red, const std::uint8_t* green,
                                 const std::uint8_t* blue, std::uint8_t* to,
                                 std::int64_t width) noexcept {
  return has_avx2() ? interleave_rgb(red, green, blue, to, width) : 0;
}

std::int64_t spread_rgb_simd(const std::uint8_t* from, std::uint8_t* red, std::uint8_t* green,
                             std::uint8_t* blue, std::int64_t width) noexcept {
  return has_avx2() ? spread_rgb(from, red, green, blue, width) : 0;
}

}  // namespace cachebisect::stages

#else

namespace cachebisect::stages {

std::int64_t mix_rgb_simd(const std::uint8_t*, std::int64_t, std::uint8_t*, std::int64_t,
                          const AxisWeights&) noexcept {
  return 0;
}

std::int64_t blend_rows_simd(const std::uint8_t*, std::int64_t, const AxisWeights&, std::int64_t,
                             std::uint8_t*, std::int64_t) noexcept {
  return 0;
}

std::int64_t reverse_rgb_simd(const std::uint8_t*, std::uint8_t*, std::int64_t) noexcept {
  return 0;
}

std::int64_t interleave_rgb_simd(const std::uint8_t*, const std::uint8_t*, const std::uint8_t*,
                                 std::uint8_t*, std::int64_t) noexcept {
  return 0;
}

std::int64_t spread_rgb_simd(const std::uint8_t*, std::uint8_t*, std::uint8_t*, std::uint8_t*,
                             std::int64_t) noexcept {
  return 0;
}

}  // namespace cachebisect::stages

#endif

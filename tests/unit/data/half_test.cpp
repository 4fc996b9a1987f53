#include "cachebisect/data/half.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// The value of a binary16 (5 exponent bits) or bfloat16 (8), from its definition.
double decode(std::uint16_t bits, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

/// Counts failures, so that 65,536 checks print one line.
template <class Check>
int count_failures(Check check) {
  int failures = 0;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    if (!check(static_cast<std::uint16_t>(bits))) ++failures;
  }
  return failures;
}

bool equal_or_nan(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// The midpoint between `bits` and the next larger magnitude rounds to the even one of the two, and
/// the float32 neighbours of the midpoint round to the nearer one.
template <class Encode>
bool rounds_to_even(std::uint16_t bits, int mantissa_bits, Encode encode) {
  const auto next = static_cast<std::uint16_t>(bits + 1);
  const double low = decode(bits, mantissa_bits);
  const double high = decode(next, mantissa_bits);
  if (!std::isfinite(low) || !std::isfinite(high)) return true;
  const auto middle = static_cast<float>(0.5 * (low + high));
  if (static_cast<double>(middle) != 0.5 * (low + high)) return false;
  const auto even = (bits & 1) == 0 ? bits : next;
  const auto up = static_cast<float>(std::copysign(INFINITY, low));
  return encode(middle) == even && encode(std::nextafter(middle, up)) == next &&
         encode(std::nextafter(middle, 0.0F)) == bits;
}

}  // namespace

TEST_CASE("every float16 converts to its float32 and back") {
  CHECK(count_failures([](std::uint16_t bits) {
          return equal_or_nan(half_to_float(bits), decode(bits, 10));
        }) == 0);
  CHECK(count_failures([](std::uint16_t bits) {
          if (std::isnan(decode(bits, 10)))
            return float_to_half(half_to_float(bits)) == (bits | 0x200);
          return float_to_half(half_to_float(bits)) == bits;
        }) == 0);
}

TEST_CASE("every bfloat16 converts to its float32 and back") {
  CHECK(count_failures([](std::uint16_t bits) {
          return equal_or_nan(bfloat16_to_float(bits), decode(bits, 7));
        }) == 0);
  CHECK(count_failures([](std::uint16_t bits) {
          if (std::isnan(decode(bits, 7))) {
            return float_to_bfloat16(bfloat16_to_float(bits)) == (bits | 0x40);
          }
          return float_to_bfloat16(bfloat16_to_float(bits)) == bits;
        }) == 0);
}

TEST_CASE("all midpoints round to even") {
  CHECK(count_failures(
            [](std::uint16_t bits) { return rounds_to_even(bits, 10, float_to_half); }) == 0);
  // bfloat16's subnormal midpoints are float32 subnormals: still exact.
  CHECK(count_failures(
            [](std::uint16_t bits) { return rounds_to_even(bits, 7, float_to_bfloat16); }) == 0);
}

TEST_CASE("values from the midpoint above the largest become infinity") {
  CHECK(float_to_half(65504.0F) == 0x7BFF);
  CHECK(float_to_half(std::nextafter(65520.0F, 0.0F)) == 0x7BFF);
  CHECK(float_to_half(65520.0F) == 0x7C00);
  CHECK(float_to_half(-1e30F) == 0xFC00);
  CHECK(float_to_bfloat16(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(float_to_half(std::numeric_limits<float>::denorm_min()) == 0);
}

TEST_CASE("arrays convert as single values do, bit for bit") {
  std::vector<float> floats;
  std::vector<std::uint16_t> halfs;
  for (std::uint32_t i = 0; i <= 0xFFFF; ++i) {
    halfs.push_back(static_cast<std::uint16_t>(i));
    // All upper halves with lower halves that need rounding: infinities, NaNs and subnormals too.
    floats.push_back(std::bit_cast<float>((i << 16) | ((i * 0x9E37) & 0xFFFF)));
  }
  floats.resize(65531);  // a length that is no multiple of a vector
  halfs.resize(65531);

  std::vector<std::uint16_t> half(floats.size());
  std::vector<std::uint16_t> brain(floats.size());
  floats_to_half(floats, half);
  floats_to_bfloat16(floats, brain);
  std::vector<float> from_half(halfs.size());
  std::vector<float> from_brain(halfs.size());
  halfs_to_float(halfs, from_half);
  bfloat16s_to_float(halfs, from_brain);
  int failures = 0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    failures += half[i] != float_to_half(floats[i]) ? 1 : 0;
    failures += brain[i] != float_to_bfloat16(floats[i]) ? 1 : 0;
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    failures += bits(from_half[i]) != bits(half_to_float(halfs[i])) ? 1 : 0;
    failures += bits(from_brain[i]) != bits(bfloat16_to_float(halfs[i])) ? 1 : 0;
  }
  CHECK(failures == 0);
}

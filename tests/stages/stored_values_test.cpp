// What stored numbers become: packed ones, missing ones, types that no tensor has.
#include "stages/datasets/stored_values.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/data/half.hpp"

using namespace cachebisect;
using stages::PackingAttributes;
using stages::StoredType;
using stages::StoredValues;

namespace {

template <class To, class From>
std::vector<To> converted(const StoredValues& values, const std::vector<From>& stored) {
  std::vector<To> out(stored.size());
  values.convert(std::as_bytes(std::span(stored)), reinterpret_cast<std::byte*>(out.data()));
  return out;
}

}  // namespace

TEST_CASE("16-bit floating point numbers keep their type, and missing ones are NaN") {
  PackingAttributes filled;
  filled.fill = -2.0;
  const std::vector<std::uint16_t> halves{float_to_half(1.5F), float_to_half(-2.0F)};
  const StoredValues half(StoredType::float16, filled, true);
  CHECK(half.dtype() == DType::float16);
  CHECK(!half.are_stored());
  const auto found = converted<std::uint16_t>(half, halves);
  CHECK(found[0] == halves[0]);
  CHECK(std::isnan(half_to_float(found[1])));

  const std::vector<std::uint16_t> brains{float_to_bfloat16(-2.0F), float_to_bfloat16(3.0F)};
  const StoredValues brain(StoredType::bfloat16, filled, true);
  CHECK(brain.dtype() == DType::bfloat16);
  const auto read = converted<std::uint16_t>(brain, brains);
  CHECK(std::isnan(bfloat16_to_float(read[0])));
  CHECK(read[1] == brains[1]);
  CHECK(StoredValues(StoredType::float16, filled, false).are_stored());
}

TEST_CASE("packed 16-bit floating point numbers become float32") {
  PackingAttributes packed;
  packed.scale = 10;
  packed.offset = 1;
  const StoredValues values(StoredType::float16, packed, true);
  CHECK(values.dtype() == DType::float32);
  CHECK(converted<float>(values, std::vector<std::uint16_t>{float_to_half(0.5F)})[0] == 6.0F);
}

TEST_CASE("bool is 0 or 1, whatever is stored") {
  const StoredValues values(StoredType::boolean, {}, false);
  CHECK(values.dtype() == DType::boolean);
  CHECK(!values.are_stored());
  const std::vector<std::uint8_t> stored{0, 1, 2, 255};
  CHECK(converted<std::uint8_t>(values, stored) == std::vector<std::uint8_t>{0, 1, 1, 1});
}

TEST_CASE("whole numbers that no tensor has become wider ones") {
  const StoredValues small(StoredType::int16, {}, false);
  CHECK(small.dtype() == DType::int32);
  CHECK(converted<std::int32_t>(small, std::vector<std::int16_t>{-7})[0] == -7);
  const StoredValues wide(StoredType::uint32, {}, false);
  CHECK(wide.dtype() == DType::int64);
  CHECK(converted<std::int64_t>(wide, std::vector<std::uint32_t>{0xFFFF'FFFF})[0] == 0xFFFF'FFFF);
  CHECK(!StoredValues(StoredType::uint64, {}, false).dtype());
}

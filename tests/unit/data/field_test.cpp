#include "cachebisect/data/field.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

std::vector<int> values_of(const Field& field) {
  const auto values = field.as<std::uint8_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a view of other memory is copied when it is kept") {
  std::vector<std::byte> memory{std::byte{1}, std::byte{2}, std::byte{3}};
  Field field;
  field.share(dense_view(memory.data(), DType::uint8, {3}));
  CHECK(field.data() == memory.data());
  field.keep();
  CHECK(field.data() != memory.data());
  memory.front() = std::byte{9};
  CHECK(values_of(field) == std::vector{1, 2, 3});
}

TEST_CASE("a view of a part of its own storage is kept where it is") {
  Field field;
  const TensorView whole = field.resize(DType::uint8, {4});
  for (int i = 0; i < 4; ++i) whole.data[i] = static_cast<std::byte>(i);
  field.share(dense_view(whole.data + 1, DType::uint8, {3}));
  field.keep();
  CHECK(field.data() == whole.data + 1);
  CHECK(values_of(field) == std::vector{1, 2, 3});
}

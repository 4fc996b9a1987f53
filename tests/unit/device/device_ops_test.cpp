#include "cachebisect/device/device_ops.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/data/half.hpp"
#include "cachebisect/device/affine_layout.hpp"
#include "cachebisect/device/device.hpp"

using namespace cachebisect;

namespace {

/// A dense tensor of T that owns its memory.
template <class T>
class Tensor {
 public:
  Tensor(DType dtype, const Shape& shape)
      : values_(static_cast<std::size_t>(shape.elements())), dtype_(dtype), shape_(shape) {}
  Tensor(DType dtype, const Shape& shape, std::vector<T> values)
      : values_(std::move(values)), dtype_(dtype), shape_(shape) {}
  TensorView view() {
    return dense_view(reinterpret_cast<std::byte*>(values_.data()), dtype_, shape_);
  }
  T& operator[](std::size_t i) { return values_.at(i); }
  std::vector<T>& values() { return values_; }

 private:
  std::vector<T> values_;
  DType dtype_;
  Shape shape_;
};

struct Fixture {
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Stream> stream = device->make_stream();
  DeviceOps& ops = device->ops();

  template <class From, class To>
  std::vector<To> cast(DType from, std::vector<From> values, DType to) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    Tensor<From> source(from, shape, std::move(values));
    Tensor<To> target(to, shape);
    ops.cast(source.view(), target.view(), *stream);
    return target.values();
  }
};

Tensor<std::uint8_t> random_bytes(const Shape& shape, std::uint64_t seed) {
  Tensor<std::uint8_t> tensor(DType::uint8, shape);
  RandomStream random({.seed = seed});
  for (auto& value : tensor.values()) value = static_cast<std::uint8_t>(random.below(256));
  return tensor;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "casts between integers and floats") {
  CHECK(cast<std::uint8_t, float>(DType::uint8, {0, 1, 255}, DType::float32) ==
        std::vector<float>{0, 1, 255});
  CHECK(cast<std::int64_t, std::int32_t>(DType::int64, {-5, 7}, DType::int32) ==
        std::vector<std::int32_t>{-5, 7});
  CHECK(cast<std::int32_t, double>(DType::int32, {-5, 1 << 30}, DType::float64) ==
        std::vector<double>{-5, 1 << 30});
  CHECK(cast<float, std::uint8_t>(DType::float32, {0, 0.5F, -0.0F, NAN}, DType::boolean) ==
        std::vector<std::uint8_t>{0, 1, 0, 1});
}

TEST_CASE_FIXTURE(Fixture, "float to integer truncates and saturates") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{1.9F, -1.9F, 300.0F, -300.0F, inf, -inf, NAN, 1e30F};
  CHECK(cast<float, std::uint8_t>(DType::float32, values, DType::uint8) ==
        std::vector<std::uint8_t>{1, 0, 255, 0, 255, 0, 0, 255});
  CHECK(cast<float, std::int8_t>(DType::float32, values, DType::int8) ==
        std::vector<std::int8_t>{1, -1, 127, -128, 127, -128, 0, 127});
  constexpr auto kMax32 = std::numeric_limits<std::int32_t>::max();
  constexpr auto kMin32 = std::numeric_limits<std::int32_t>::min();
  CHECK(cast<float, std::int32_t>(DType::float32, values, DType::int32) ==
        std::vector<std::int32_t>{1, -1, 300, -300, kMax32, kMin32, 0, kMax32});
  constexpr auto kMax64 = std::numeric_limits<std::int64_t>::max();
  CHECK(cast<double, std::int64_t>(DType::float64, {9.3e18, 9007199254740993.0}, DType::int64) ==
        std::vector<std::int64_t>{kMax64, 9007199254740992});
  CHECK(cast<double, std::int32_t>(DType::float64, {2147483646.9, 2147483647.5}, DType::int32) ==
        std::vector<std::int32_t>{2147483646, kMax32});
}

TEST_CASE_FIXTURE(Fixture, "casts to and from half precision round to nearest even") {
  std::vector<float> values;
  RandomStream random({.seed = 3});
  for (int i = 0; i < 1000; ++i) {
    values.push_back(static_cast<float>(std::ldexp(random.uniform(-1, 1), i % 60 - 30)));
  }
  std::vector<std::uint16_t> half;
  std::vector<std::uint16_t> brain;
  for (const float value : values) {
    half.push_back(float_to_half(value));
    brain.push_back(float_to_bfloat16(value));
  }
  CHECK(cast<float, std::uint16_t>(DType::float32, values, DType::float16) == half);
  CHECK(cast<float, std::uint16_t>(DType::float32, values, DType::bfloat16) == brain);
  std::vector<float> back;
  for (const std::uint16_t bits : half) back.push_back(half_to_float(bits));
  CHECK(cast<std::uint16_t, float>(DType::float16, half, DType::float32) == back);
  CHECK(cast<std::uint8_t, std::uint16_t>(DType::uint8, {0, 255}, DType::float16) ==
        std::vector<std::uint16_t>{0, 0x5BF8});
}

TEST_CASE("a tensor with one scale and one bias is one channel, which takes one pass") {
  const std::array<std::int64_t, 4> dims{2, 3, 5, 700};
  const std::array<float, 1> one{};
  const std::array<float, 5> five{};
  const AffineLayout whole = affine_layout(dims, 3, one, one);
  CHECK(whole.outer == 1);
  CHECK(whole.channels == 1);
  CHECK(whole.inner == 2 * 3 * 5 * 700);
  for (const auto& [scale, bias] :
       {std::pair<std::span<const float>, std::span<const float>>{five, one}, {one, five}}) {
    const AffineLayout rows = affine_layout(dims, 2, scale, bias);
    CHECK(rows.outer == 6);
    CHECK(rows.channels == 5);
    CHECK(rows.inner == 700);
  }
}

TEST_CASE_FIXTURE(Fixture, "affine scales along any axis into any float") {
  const std::vector<float> scale{0.5F, 2.0F, 1.0F / 255};
  const std::vector<float> bias{-1.0F, 0.25F, 3.0F};
  const std::array<Shape, 3> shapes{Shape{2, 3, 5, 700}, Shape{2, 5, 7, 3}, Shape{3, 4}};
  const std::array<std::size_t, 3> axes{1, 3, 0};
  for (std::size_t which = 0; which < shapes.size(); ++which) {
    const Shape& shape = shapes[which];
    CAPTURE(shape.to_string());
    auto source = random_bytes(shape, which);
    Tensor<float> floats(DType::float32, shape);
    Tensor<std::uint16_t> half(DType::float16, shape);
    Tensor<std::uint16_t> brain(DType::bfloat16, shape);
    ops.affine(source.view(), floats.view(), scale, bias, axes[which], *stream);
    ops.affine(source.view(), half.view(), scale, bias, axes[which], *stream);
    ops.affine(source.view(), brain.view(), scale, bias, axes[which], *stream);
    const Strides strides = dense_strides(shape);
    int failures = 0;
    for (std::size_t i = 0; i < source.values().size(); ++i) {
      const auto channel = (i / static_cast<std::size_t>(strides[axes[which]])) % 3;
      const float expected = static_cast<float>(source[i]) * scale[channel] + bias[channel];
      failures += floats[i] != expected ? 1 : 0;
      failures += half[i] != float_to_half(expected) ? 1 : 0;
      failures += brain[i] != float_to_bfloat16(expected) ? 1 : 0;
    }
    CHECK(failures == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "affine takes one value for all channels") {
  auto source = random_bytes({2, 3}, 1);
  Tensor<float> target(DType::float32, {2, 3});
  const float scale = 2;
  const float bias = 1;
  ops.affine(source.view(), target.view(), {&scale, 1}, {&bias, 1}, 1, *stream);
  for (std::size_t i = 0; i < 6; ++i) CHECK(target[i] == static_cast<float>(2 * source[i] + 1));
}

TEST_CASE_FIXTURE(Fixture, "one_hot sets the label's class and names a label out of range") {
  Tensor<std::int64_t> labels(DType::int64, {3}, {2, 0, 1});
  Tensor<float> target(DType::float32, {3, 3});
  ops.one_hot(labels.view(), target.view(), 0.9F, 0.05F, *stream);
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(target[3 * n + c] == (static_cast<std::int64_t>(c) == labels[n] ? 0.9F : 0.05F));
    }
  }
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}}) {
    labels[1] = bad;
    CHECK(test::error_message([&] { ops.one_hot(labels.view(), target.view(), 1, 0, *stream); },
                              ErrorKind::data) ==
          "label " + std::to_string(bad) + " of row 1 is outside [0, 3)");
  }
}

TEST_CASE_FIXTURE(Fixture, "unpack_bits puts the most significant bit first") {
  Tensor<std::uint8_t> source(DType::uint8, {2, 1}, {0b10000010, 0b11110000});
  Tensor<std::uint8_t> target(DType::uint8, {2, 8});
  ops.unpack_bits(source.view(), target.view(), *stream);
  CHECK(target.values() ==
        std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE_FIXTURE(Fixture, "unpack_nonzeros puts values at their positions, and zeros elsewhere") {
  // Two positions and values of a byte per row; less than 0 and beyond the end are none.
  Tensor<std::uint8_t> source(DType::uint8, {2, 10}, {2,    0,    0,    0,    0, 0, 0, 0, 7, 9,
                                                      0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 5, 6});
  Tensor<std::uint8_t> target(DType::uint8, {2, 3}, {1, 1, 1, 1, 1, 1});
  ops.unpack_nonzeros(source.view(), target.view(), *stream);
  CHECK(target.values() == std::vector<std::uint8_t>{9, 0, 7, 0, 0, 0});
}

TEST_CASE_FIXTURE(Fixture, "pad puts each sample at the start of its row, and zeros elsewhere") {
  Tensor<std::uint8_t> source(DType::uint8, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 0, 0});
  const std::array shapes{Shape{2, 2}, Shape{0, 3}, Shape{1, 3}};
  Tensor<std::uint8_t> target(DType::uint8, {3, 2, 3}, std::vector<std::uint8_t>(18, 9));
  ops.pad(source.view(), target.view(), shapes, *stream);
  CHECK(target.values() ==
        std::vector<std::uint8_t>{1, 2, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7, 0, 0, 0});
}

TEST_CASE_FIXTURE(Fixture, "transpose permutes axes") {
  const Shape shape{2, 3, 4, 5};
  auto source = random_bytes(shape, 9);
  Tensor<std::uint8_t> target(DType::uint8, {2, 5, 3, 4});
  const std::array<std::size_t, 4> axes{0, 3, 1, 2};
  ops.transpose(source.view(), target.view(), axes, *stream);
  std::size_t at = 0;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t c = 0; c < 5; ++c) {
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t w = 0; w < 4; ++w) {
          CHECK(target[at++] == source[((n * 3 + h) * 4 + w) * 5 + c]);
        }
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "tensors that do not fit are refused, and empty ones are accepted") {
  auto source = random_bytes({2, 3}, 1);
  Tensor<float> other(DType::float32, {3, 2});
  CHECK_THROWS_AS(ops.cast(source.view(), other.view(), *stream), Error);
  CHECK_THROWS_AS(ops.one_hot(other.view(), other.view(), 1, 0, *stream), Error);
  CHECK_THROWS_AS(ops.unpack_bits(source.view(), source.view(), *stream), Error);
  CHECK_THROWS_AS(ops.unpack_nonzeros(source.view(), other.view(), *stream), Error);
  const auto refuses = [&](const std::vector<Shape>& shapes) {
    return !test::error_message([&] { ops.pad(source.view(), source.view(), shapes, *stream); },
                                ErrorKind::internal)
                .empty();
  };
  CHECK(refuses({Shape{3}}));
  CHECK(refuses({Shape{3}, Shape{4}}));
  CHECK(refuses({Shape{3}, Shape{1, 3}}));
  CHECK(refuses({Shape{3}, Shape{-1}}));
  const std::array<std::size_t, 2> twice{0, 0};
  CHECK_THROWS_AS(ops.transpose(source.view(), source.view(), twice, *stream), Error);

  Tensor<float> empty(DType::float32, {0, 4});
  Tensor<std::uint16_t> target(DType::float16, {0, 4});
  ops.cast(empty.view(), target.view(), *stream);
  const float one = 1;
  ops.affine(empty.view(), target.view(), {&one, 1}, {&one, 1}, 1, *stream);
}

// Samples as bytes without names: what is packed comes back, and nothing else is taken for a
// sample.
#include "cachebisect/shards/packed_sample.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using shards::PackedSample;

namespace {

const SampleSpec kDynamicSpec{{"image", DType::uint8, {kDynamic, kDynamic, 3}},
                              {"mask", DType::boolean, {kDynamic}},
                              {"label", DType::int64, {}}};

Sample packed_input(std::int64_t height, std::int64_t width, std::int64_t label) {
  Sample sample;
  std::uint8_t next = 0;
  for (std::uint8_t& value :
       sample.field("image").resize_as<std::uint8_t>(Shape{height, width, 3})) {
    value = next++;
  }
  for (bool& value : sample.field("mask").resize_as<bool>(Shape{height})) value = true;
  sample.field("label").set(label);
  return sample;
}

bool is_same(const Field& a, const Field& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

}  // namespace

TEST_CASE("a packed sample comes back, with any dimensions") {
  const PackedSample packed(kDynamicSpec);
  CHECK_FALSE(packed.bytes().has_value());
  std::vector<std::byte> bytes;
  Sample out;
  for (const auto& [height, width] : {std::pair{5, 7}, {1, 1}, {0, 4}, {300, 2}}) {
    const Sample sample = packed_input(height, width, -3);
    packed.pack(sample, bytes);
    CHECK(bytes.size() == 3 * 4 + static_cast<std::size_t>(height) * (width * 3 + 1) + 8);
    REQUIRE(packed.unpack(bytes, out));
    for (const char* const name : {"image", "mask", "label"}) {
      CHECK(is_same(sample.field(name), out.field(name)));
    }
  }
}

TEST_CASE("static samples have no dimensions in their bytes") {
  const PackedSample packed({{"x", DType::float32, {2, 3}}, {"y", DType::int32, {}}});
  CHECK(packed.bytes() == 28);
  Sample sample;
  sample.field("x").resize_as<float>(Shape{2, 3})[5] = 1.5F;
  sample.field("y").set(std::int32_t{7});
  std::vector<std::byte> bytes(1000);
  packed.pack(sample, bytes);
  CHECK(bytes.size() == 28);
  Sample out;
  REQUIRE(packed.unpack(bytes, out));
  CHECK(out.field("x").as<float>()[5] == 1.5F);
  bytes.pop_back();
  CHECK_FALSE(packed.unpack(bytes, out));
}

TEST_CASE("a strided field is packed densely") {
  const PackedSample packed({{"x", DType::uint8, {2, 2}}});
  std::vector<std::byte> memory{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Sample sample;
  TensorView transposed = dense_view(memory.data(), DType::uint8, {2, 2});
  std::swap(transposed.strides[0], transposed.strides[1]);
  sample.field("x").share(transposed);
  std::vector<std::byte> bytes;
  packed.pack(sample, bytes);
  CHECK(bytes == std::vector<std::byte>{std::byte{1}, std::byte{3}, std::byte{2}, std::byte{4}});
}

TEST_CASE("a sample that is not of the spec is not packed") {
  const PackedSample packed({{"x", DType::float32, {2}}});
  std::vector<std::byte> bytes;
  const auto refused = [&](const Sample& sample) {
    return error_message([&] { packed.pack(sample, bytes); }, ErrorKind::internal);
  };
  Sample other;
  CHECK(has(refused(other), "'x' is not float32 [2]"));
  other.field("x").resize_as<std::uint8_t>(Shape{2});
  CHECK_FALSE(refused(other).empty());
  Sample longer;
  longer.field("x").resize_as<float>(Shape{3});
  CHECK_FALSE(refused(longer).empty());
}

TEST_CASE("bytes of anything else are refused, before memory is taken for them") {
  const PackedSample packed(kDynamicSpec);
  std::vector<std::byte> right;
  packed.pack(packed_input(6, 5, 1), right);
  Sample out;
  for (std::size_t size = 0; size < right.size(); ++size) {
    CHECK_FALSE(packed.unpack(std::span(right).first(size), out));
  }
  // Dimensions that claim more than there is, or more than there are addresses.
  for (const std::uint32_t claimed : {7U, 1U << 20U, 0xFFFFFFFFU}) {
    for (std::size_t dim = 0; dim < 3; ++dim) {
      std::vector<std::byte> bytes = right;
      std::memcpy(bytes.data() + dim * 4, &claimed, 4);
      CHECK_FALSE(packed.unpack(bytes, out));
    }
  }
  CHECK(out.field("image").capacity() < 4096);
}

TEST_CASE("dimensions whose product overflows are refused, even next to one of 0") {
  const PackedSample packed({{"image", DType::uint8, {kDynamic, kDynamic, kDynamic, kDynamic}}});
  constexpr std::uint32_t kMost = 0x7FFFFFFF;
  Sample out;
  for (const auto& dims : std::vector<std::vector<std::uint32_t>>{
           {0, kMost, kMost, kMost}, {kMost, kMost, kMost, 0}, {kMost, kMost, kMost, kMost}}) {
    CHECK_FALSE(packed.unpack(std::as_bytes(std::span(dims)), out));
  }
  const std::vector<std::uint32_t> none{0, 4, 4, 3};
  CHECK(packed.unpack(std::as_bytes(std::span(none)), out));
  CHECK(out.field("image").shape() == Shape{0, 4, 4, 3});
  CHECK_FALSE(PackedSample({{"image", DType::uint8, {kMost, kMost, kMost}}}).bytes().has_value());
}

TEST_CASE("random bytes crash nothing") {
  const PackedSample packed(kDynamicSpec);
  RandomStream random({.seed = 11});
  Sample out;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(random.below(80));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(i % 2 == 0 ? 4 : 256));
    static_cast<void>(packed.unpack(bytes, out));
  }
}

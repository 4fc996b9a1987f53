#include <numeric>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

Sample record(std::size_t bytes) {
  Sample sample;
  auto image = sample.field("image").resize_as<std::uint8_t>({static_cast<std::int64_t>(bytes)});
  for (std::size_t i = 0; i < bytes; ++i)
    image[i] = static_cast<std::uint8_t>(i * 31 + i / 1024 * 7);
  sample.field("label").set(std::int64_t{3});
  return sample;
}

SampleSpec record_spec(std::int64_t bytes) {
  return {{"image", DType::uint8, {bytes}}, {"label", DType::int64, {}}};
}

/// The expected output of decode.cifar at (y, x, channel).
std::uint8_t cifar_pixel(const Sample& input, std::int64_t y, std::int64_t x, std::int64_t c) {
  return input.field("image").as<std::uint8_t>()[static_cast<std::size_t>(c * 1024 + y * 32 + x)];
}

/// Decodes into a destination with these strides and compares every pixel.
void check_cifar_into(const Strides& strides, std::size_t bytes) {
  const auto stage = make_stage<SampleStage>("decode.cifar", {});
  const Sample input = record(3072);
  Bytes slot(bytes);
  Sample out;
  out.begin_from(input);
  out.field("image").attach(
      {reinterpret_cast<std::byte*>(slot.data()), DType::uint8, Shape{32, 32, 3}, strides});
  Arena arena;
  stage->process(input, out, SampleContext({}, arena));
  CHECK(out.field("image").data() == reinterpret_cast<const std::byte*>(slot.data()));
  bool equal = true;
  for (std::int64_t y = 0; y < 32; ++y) {
    for (std::int64_t x = 0; x < 32; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>(y * strides[0] + x * strides[1] + c * strides[2]);
        equal = equal && slot[at] == cifar_pixel(input, y, x, c);
      }
    }
  }
  CHECK(equal);
}

}  // namespace

TEST_CASE("decode.cifar interleaves planes, for any layout of the destination") {
  const auto stage = make_stage<SampleStage>("decode.cifar", {});
  const auto spec = stage->infer(record_spec(3072));
  CHECK(spec[0].shape == Shape{32, 32, 3});
  CHECK(spec[1].shape == Shape{});
  const Sample input = record(3072);
  const Sample out = process_sample(*stage, input);
  const auto pixels = out.field("image").as<std::uint8_t>();
  CHECK(pixels[0] == cifar_pixel(input, 0, 0, 0));
  CHECK(pixels[(5 * 32 + 7) * 3 + 2] == cifar_pixel(input, 5, 7, 2));
  CHECK(out.field("label").as_integer() == 3);

  check_cifar_into({96, 3, 1}, 3072);       // NHWC
  check_cifar_into({32, 1, 1024}, 3072);    // NCHW
  check_cifar_into({128, 4, 1}, 128 * 32);  // padded pixels
}

TEST_CASE("decode.mnist gives the record the shape of an image") {
  const auto stage = make_stage<SampleStage>("decode.mnist", {});
  CHECK(stage->infer(record_spec(784))[0].shape == Shape{28, 28, 1});
  const Sample input = record(784);
  const Sample out = process_sample(*stage, input);
  const auto pixels = out.field("image").as<std::uint8_t>();
  const auto bytes = input.field("image").as<std::uint8_t>();
  CHECK(std::equal(pixels.begin(), pixels.end(), bytes.begin(), bytes.end()));
}

TEST_CASE("fields that are not records are refused before anything runs, and during the run") {
  for (const std::string type : {"decode.cifar", "decode.mnist"}) {
    CAPTURE(type);
    const auto stage = make_stage<SampleStage>(type, {});
    const auto refused = [&](const SampleSpec& spec) {
      return error_of([&] { static_cast<void>(stage->infer(spec)); });
    };
    CHECK(has(refused(record_spec(100)),
              "2: field \"image\" is uint8 [100], must be a record of read."));
    CHECK(has(refused({{"image", DType::float32, {3072}}}), "is float32 [3072], must be"));
    CHECK(has(refused({{"image", DType::uint8, {32, 32, 3}}}), "is uint8 [32, 32, 3], must be"));
    CHECK(has(refused({{"pixels", DType::uint8, {3072}}}), "no field \"image\""));
    CHECK_NOTHROW(static_cast<void>(stage->infer(record_spec(cachebisect::kDynamic))));
    const Sample wrong = record(100);
    CHECK(has(error_of([&] { process_sample(*stage, wrong); }),
              "3: the field is uint8 [100], must be uint8 ["));
  }
}

// The augment stages as stages: sizes, fields, distributions of their random draws, errors.
#include <array>
#include <cmath>
#include <set>

#include "stages/conformance.hpp"
#include "stages/image_fixtures.hpp"
#include "stages/kernels/geometry.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/data/half.hpp"
#include "cachebisect/stages.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

struct Chain {
  std::shared_ptr<SampleStage> stage;
  SampleSpec output;
};

Chain prepare(const BuiltStage& built, const SampleSpec& input) {
  Chain chain{std::dynamic_pointer_cast<SampleStage>(built.stage), {}};
  chain.output = chain.stage->infer(input);
  return chain;
}

Sample image_sample(const FixtureImage& image) {
  Sample sample;
  const TensorView view =
      sample.field("image").resize(image.dtype == "float32" ? DType::float32 : DType::uint8,
                                   Shape{image.height, image.width, image.channels});
  std::memcpy(view.data, image.bytes.data(), image.bytes.size());
  return sample;
}

SampleSpec spec_of(const Sample& sample) {
  SampleSpec spec;
  for (const auto& field : sample.fields())
    spec.push_back({field.name, field.field.dtype(), field.field.shape()});
  return spec;
}

std::vector<std::byte> run_once(const BuiltStage& built, const Sample& input) {
  Worker worker;
  return bytes_of(worker.run(*prepare(built, spec_of(input)).stage, input).field("image").view());
}

// The largest difference of floats.
float largest_difference(const std::vector<std::byte>& got, const FixtureImage& wanted) {
  REQUIRE(got.size() == wanted.bytes.size());
  float largest = 0;
  for (std::size_t i = 0; i < wanted.elements(); ++i) {
    float value = 0;
    std::memcpy(&value, got.data() + i * sizeof value, sizeof value);
    largest = std::max(largest, std::abs(value - wanted.as<float>()[i]));
  }
  return largest;
}

SampleSpec image_spec(const Shape& shape, DType dtype = DType::uint8) {
  return {{"image", dtype, shape}};
}

}  // namespace

TEST_CASE("to_float and normalize equal torchvision's to single precision") {
  const Sample input = image_sample(fixture("small.u8"));
  CHECK(largest_difference(run_once(stages::to_float(), input), fixture("small_to_float.f32")) <
        1e-6F);
  const auto got = run_once(
      stages::normalize({.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}}), input);
  CHECK(largest_difference(got, fixture("small_normalized.f32")) < 1e-6F);
}

TEST_CASE("normalize on uint8 is bit-equal to to_float and then normalize") {
  const Sample input = image_sample(fixture("source.u8"));
  const BuiltStage normalize =
      stages::normalize({.mean = {0.4914, 0.4822, 0.4465}, .std = {0.247, 0.2435, 0.2616}});
  Worker worker;
  const Sample& unit = worker.run(*prepare(stages::to_float(), spec_of(input)).stage, input);
  CHECK(run_once(normalize, unit) == run_once(normalize, input));
}

TEST_CASE("resize to a shorter side truncates the longer one like torchvision") {
  const Sample input = image_sample(fixture("source.u8"));
  const FixtureImage& wanted = fixture("resize_shorter_18.u8");
  const Chain chain = prepare(stages::resize({.shorter_side = 18}), spec_of(input));
  CHECK(chain.output[0].shape == Shape{wanted.height, wanted.width, 3});
  Worker worker;
  const Field& got = worker.run(*chain.stage, input).field("image");
  CHECK(got.shape() == chain.output[0].shape);
}

TEST_CASE("cast rounds to nearest even and keeps float32") {
  const Sample input = image_sample(fixture("small_normalized.f32"));
  const FixtureImage& values = fixture("small_normalized.f32");
  for (const auto& [name, convert] : {std::pair{std::string("float16"), &float_to_half},
                                      std::pair{std::string("bfloat16"), &float_to_bfloat16}}) {
    const auto got = run_once(stages::make("augment.cast", R"({"dtype": ")" + name + "\"}"), input);
    for (std::size_t i = 0; i < values.elements(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, got.data() + i * sizeof bits, sizeof bits);
      REQUIRE(bits == convert(values.as<float>()[i]));
    }
  }
  CHECK(run_once(stages::make("augment.cast", R"({"dtype": "float32"})"), input) == values.bytes);
}

TEST_CASE("one_hot sets the element of the label and refuses labels beyond the classes") {
  const BuiltStage built = stages::make("augment.one_hot", R"({"classes": 4})");
  Sample input;
  input.field("label").set(std::int64_t{2});
  const Chain chain = prepare(built, spec_of(input));
  Worker worker;
  const auto values = worker.run(*chain.stage, input).field("label").as<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{0, 0, 1, 0});
  for (const std::int64_t label : {std::int64_t{4}, std::int64_t{-1}}) {
    input.field("label").set(label);
    const std::string message = error_of([&] { worker.run(*chain.stage, input); });
    CHECK(message.starts_with("3: label " + std::to_string(label)));
  }
}

TEST_CASE("the fields of one sample get the same draws, and other fields are not touched") {
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{16, 16, 3}, 1);
  input.field("mask").copy_from(input.field("image"));
  fill(input.field("depth"), DType::uint8, Shape{16, 16, 1}, 2);
  const Chain chain =
      prepare(stages::random_crop({.size = 8, .fields = {"image", "mask"}}), spec_of(input));
  Worker worker;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const Sample& out = worker.run(*chain.stage, input, epoch);
    REQUIRE(bytes_of(out.field("image").view()) == bytes_of(out.field("mask").view()));
    REQUIRE(out.field("depth").data() == input.field("depth").data());
  }
}

TEST_CASE("flips happen with probability p, and otherwise the output stays a view of the input") {
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{4, 4, 3}, 1);
  for (const double p : {0.0, 0.3, 1.0}) {
    const Chain chain = prepare(stages::horizontal_flip({.p = p}), spec_of(input));
    Worker worker;
    int flips = 0;
    constexpr int kDraws = 4000;
    for (int i = 0; i < kDraws; ++i) {
      const Sample& out = worker.run(*chain.stage, input, static_cast<std::uint64_t>(i));
      flips += out.field("image").data() != input.field("image").data() ? 1 : 0;
    }
    // Five standard deviations of a binomial.
    CHECK(std::abs(flips - p * kDraws) <= 5 * std::sqrt(kDraws * p * (1 - p)));
  }
}

TEST_CASE("random_crop draws every position about equally often") {
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{8, 8, 1}, 3);
  const Chain chain = prepare(stages::random_crop({.size = 8, .padding = 1}), spec_of(input));
  Worker worker;
  std::map<std::vector<std::byte>, int> seen;
  constexpr int kDraws = 9000;
  for (int i = 0; i < kDraws; ++i)
    ++seen[bytes_of(
        worker.run(*chain.stage, input, static_cast<std::uint64_t>(i)).field("image").view())];
  CHECK(seen.size() == 9);
  for (const auto& place : seen) CHECK(std::abs(place.second - 1000) < 150);
}

TEST_CASE("random resized boxes are inside the image, within scale and ratio, or centred") {
  double share = 0;
  constexpr int kDraws = 3000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    RandomStream random({.index = i});
    const stages::Box box =
        stages::random_resized_box(375, 500, {0.08, 1}, {0.75, 4.0 / 3}, random);
    REQUIRE(box.top >= 0);
    REQUIRE(box.left >= 0);
    REQUIRE(box.top + box.height <= 375);
    REQUIRE(box.left + box.width <= 500);
    const double ratio = static_cast<double>(box.width) / static_cast<double>(box.height);
    REQUIRE(ratio > 0.74);
    REQUIRE(ratio < 1.35);
    share += static_cast<double>(box.height * box.width) / (375.0 * 500.0) / kDraws;
  }
  // torchvision's get_params on the same image: 0.434 over 100,000 draws.
  CHECK(share == doctest::Approx(0.434).epsilon(0.03));
  RandomStream random({.index = 1});
  CHECK(stages::random_resized_box(10, 1000, {1, 1}, {0.75, 4.0 / 3}, random) ==
        stages::Box{0, 493, 10, 13});
}

TEST_CASE("random_erasing overwrites one rectangle with the value") {
  Sample input;
  const TensorView view = input.field("image").resize(DType::uint8, Shape{20, 30, 3});
  std::memset(view.data, 9, view.byte_size());
  const Chain chain =
      prepare(stages::make("augment.random_erasing", R"({"p": 1, "value": [200, 100, 50]})"),
              spec_of(input));
  Worker worker;
  const auto pixels = worker.run(*chain.stage, input).field("image").as<std::uint8_t>();
  std::set<std::array<std::uint8_t, 3>> colours;
  std::size_t erased = 0;
  for (std::size_t i = 0; i < pixels.size(); i += 3) {
    colours.insert({pixels[i], pixels[i + 1], pixels[i + 2]});
    erased += pixels[i] == 200 ? 1 : 0;
  }
  CHECK(colours == std::set<std::array<std::uint8_t, 3>>{{9, 9, 9}, {200, 100, 50}});
  CHECK(erased >= 600 / 50 - 3);
  CHECK(erased <= 600 * 33 / 100 + 30);
}

TEST_CASE("errors say what is wrong and what would be right") {
  const auto infer = [](const BuiltStage& built, const SampleSpec& spec) {
    return error_of([&] { prepare(built, spec); });
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(has(text, part));
  };
  contains(infer(stages::random_crop({.size = 64}), image_spec({32, 32, 3})),
           "2: an image of 32 x 32");
  contains(infer(stages::resize({.size = 8}), image_spec({3072})), "decode");
  contains(infer(stages::to_float(), image_spec({8, 8, 3}, DType::float32)), "must be uint8");
  contains(infer(stages::normalize({.mean = {0, 0}, .std = {1, 1}}), image_spec({8, 8, 3})),
           "2 entries");
  contains(error_of([] { stages::resize({.size = 8, .shorter_side = 8}); }), "exactly one");
  contains(error_of([] { stages::resize({.height = 8}); }), "width");
  contains(error_of([] { stages::make("augment.gaussian_blur", R"({"kernel_size": 4})"); }), "odd");
  contains(error_of([] {
             stages::make("augment.random_resized_crop", R"({"size": 8, "scale": [1, 0.5]})");
           }),
           "smaller first");
  contains(error_of([] { stages::make("augment.resise"); }), "augment.resize");
  contains(error_of([] { stages::make("augment.resize", R"({"siz": 8})"); }), "size");
  contains(error_of([] { stages::make("augment.resize", "8"); }), "must be an object");
  contains(error_of([] { stages::normalize({.mean = {0, 0}, .std = {1}}); }), "mean has 2");
}

TEST_CASE("a sample of dynamic shape that is too small is a data error, not a crash") {
  Sample input;
  fill(input.field("image"), DType::uint8, Shape{5, 40, 3}, 1);
  const SampleSpec dynamic = image_spec({kDynamic, kDynamic, 3});
  Worker worker;
  const Chain crop = prepare(stages::random_crop({.size = 8}), dynamic);
  CHECK(error_of([&] { worker.run(*crop.stage, input); }).starts_with("3: "));
  const Chain blur =
      prepare(stages::make("augment.gaussian_blur", R"({"kernel_size": 11})"), dynamic);
  CHECK(error_of([&] { worker.run(*blur.stage, input); }).starts_with("3: "));
  fill(input.field("image"), DType::uint8, Shape{0, 40, 3}, 1);
  const Chain resize = prepare(stages::resize({.size = 8}), dynamic);
  CHECK(error_of([&] { worker.run(*resize.stage, input); }).starts_with("3: "));
}

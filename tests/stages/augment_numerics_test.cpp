// Compares the kernels of the augment stages with torchvision 0.26 and Pillow, on one small image.
#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/image_fixtures.hpp"
#include "stages/kernels/blur.hpp"
#include "stages/kernels/byte_map.hpp"
#include "stages/kernels/color.hpp"
#include "stages/kernels/crop.hpp"
#include "stages/kernels/geometry.hpp"
#include "stages/kernels/resize.hpp"
#include "stages/kernels/rotate.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::stages;
using cachebisect::test::fixture;
using cachebisect::test::FixtureImage;

namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
ImageIn<T> input(const FixtureImage& image) {
  return {image.as<T>(), image.height, image.width, image.channels};
}

ImageIn<std::uint8_t> source() { return input<std::uint8_t>(fixture("source.u8")); }

// A dense HWC image to write.
template <class T>
ImageOut<T> dense_image(T* data, std::int64_t height, std::int64_t width, std::int64_t channels) {
  return {data, height, width, channels, width * channels, channels, 1};
}

// An image of the size of `wanted`, filled by `work`.
template <class T, class Work>
std::vector<T> make_like(const FixtureImage& wanted, Work&& work) {
  std::vector<T> out(wanted.elements());
  work(dense_image(out.data(), wanted.height, wanted.width, wanted.channels));
  return out;
}

int largest_difference(const Bytes& got, const FixtureImage& wanted) {
  REQUIRE(got.size() == wanted.elements());
  int largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    largest = std::max(largest, std::abs(got[i] - wanted.as<std::uint8_t>()[i]));
  return largest;
}

// The share of elements that differ by more than `tolerance`.
double share_beyond(const Bytes& got, const FixtureImage& wanted, int tolerance) {
  REQUIRE(got.size() == wanted.elements());
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    beyond += std::abs(got[i] - wanted.as<std::uint8_t>()[i]) > tolerance ? 1U : 0U;
  return static_cast<double>(beyond) / static_cast<double>(got.size());
}

Bytes resized(const FixtureImage& wanted, ResizeFilter filter, const Box& box) {
  Arena arena;
  return make_like<std::uint8_t>(
      wanted, [&](const auto& out) { resize(source(), box, out, filter, arena); });
}

Bytes resized(const FixtureImage& wanted, ResizeFilter filter) {
  return resized(wanted, filter, source().whole());
}

Bytes source_pixels() {
  const FixtureImage& image = fixture("source.u8");
  return {image.as<std::uint8_t>(), image.as<std::uint8_t>() + image.elements()};
}

}  // namespace

TEST_CASE("resize agrees with Pillow exactly for nearest, and within 1 for the others") {
  for (const std::string size : {"down", "up", "mixed"}) {
    for (const std::string kind : {"nearest", "area", "bilinear", "bicubic"}) {
      CAPTURE(size);
      CAPTURE(kind);
      // Pillow picks the order of the axes by cost, and clamps what bicubic overshoots in between.
      if (kind == "bicubic" && size == "mixed") continue;
      const FixtureImage& wanted = fixture("resize_" + kind + "_" + size + "_pillow.u8");
      const Bytes got = resized(wanted, {filter_kind(kind), true});
      CHECK(largest_difference(got, wanted) <= (kind == "nearest" ? 0 : 1));
    }
  }
}

TEST_CASE("resize agrees with torchvision within 1, with and without antialias") {
  for (const std::string size : {"down", "up", "mixed"}) {
    for (const std::string kind : {"bilinear", "bicubic"}) {
      CAPTURE(size);
      CAPTURE(kind);
      const FixtureImage& smooth = fixture("resize_" + kind + "_" + size + "_torchvision.u8");
      CHECK(largest_difference(resized(smooth, {filter_kind(kind), true}), smooth) <= 1);
      const FixtureImage& plain = fixture("resize_" + kind + "_" + size + "_plain.u8");
      CHECK(largest_difference(resized(plain, {filter_kind(kind), false}), plain) <= 1);
    }
  }
}

TEST_CASE("resize of a part agrees with torchvision's resized_crop within 1") {
  const FixtureImage& wanted = fixture("resized_crop_5_7_21_30.u8");
  CHECK(largest_difference(resized(wanted, {}, {5, 7, 21, 30}), wanted) <= 1);
}

TEST_CASE("resize of floats agrees with torchvision to single precision") {
  const FixtureImage& wanted = fixture("resize_bilinear_down.f32");
  std::vector<float> unit;
  for (const std::uint8_t value : source_pixels()) unit.push_back(unit_value(value));
  const ImageIn<float> in{unit.data(), source().height, source().width, 3};
  Arena arena;
  const auto got = make_like<float>(
      wanted, [&](const auto& out) { resize(in, in.whole(), out, ResizeFilter{}, arena); });
  for (std::size_t i = 0; i < got.size(); ++i)
    REQUIRE(std::abs(got[i] - wanted.as<float>()[i]) < 1e-5F);
}

TEST_CASE("a constant image stays constant under every filter") {
  for (const std::uint8_t level : Bytes{0, 1, 127, 254, 255}) {
    const Bytes flat(37 * 50 * 3, level);
    for (const std::string kind : {"nearest", "area", "bilinear", "bicubic"}) {
      for (const bool antialias : {false, true}) {
        Arena arena;
        Bytes out(61 * 13 * 3);
        resize(ImageIn<std::uint8_t>{flat.data(), 37, 50, 3}, Box{0, 0, 37, 50},
               dense_image(out.data(), 61, 13, 3), {filter_kind(kind), antialias}, arena);
        CHECK(std::ranges::all_of(out, [&](std::uint8_t value) { return value == level; }));
      }
    }
  }
}

TEST_CASE("resize gives the same result with one, three and four channels") {
  const Bytes pixels = source_pixels();
  Arena arena;
  Bytes three(20 * 30 * 3);
  resize(source(), source().whole(), dense_image(three.data(), 20, 30, 3), {}, arena);
  for (const std::int64_t channels : {1, 4}) {
    const auto c = static_cast<std::size_t>(channels);
    Bytes in(37 * 50 * c);
    Bytes out(20 * 30 * c);
    for (std::size_t i = 0; i < 37 * 50; ++i) {
      for (std::size_t k = 0; k < c; ++k) in[i * c + k] = pixels[i * 3];
    }
    resize(ImageIn<std::uint8_t>{in.data(), 37, 50, channels}, Box{0, 0, 37, 50},
           dense_image(out.data(), 20, 30, channels), {}, arena);
    for (std::size_t i = 0; i < 20 * 30; ++i) {
      for (std::size_t k = 0; k < c; ++k) REQUIRE(out[i * c + k] == three[i * 3]);
    }
  }
}

TEST_CASE("crops and flips equal torchvision's") {
  const auto cropped = [](const FixtureImage& wanted, std::int64_t top, std::int64_t left) {
    return make_like<std::uint8_t>(
        wanted, [&](const auto& out) { crop<std::uint8_t>(source(), top, left, out, 0); });
  };
  const auto center = [&](const FixtureImage& wanted) {
    return cropped(wanted, center_offset(source().height, wanted.height),
                   center_offset(source().width, wanted.width));
  };
  CHECK(largest_difference(center(fixture("center_crop_20_31.u8")),
                           fixture("center_crop_20_31.u8")) == 0);
  CHECK(largest_difference(center(fixture("center_crop_44_61.u8")),
                           fixture("center_crop_44_61.u8")) == 0);
  const FixtureImage& padded = fixture("crop_pad4_2_9_32_40.u8");
  CHECK(largest_difference(cropped(padded, 2 - 4, 9 - 4), padded) == 0);
  const FixtureImage& mirrored = fixture("horizontal_flip.u8");
  CHECK(largest_difference(
            make_like<std::uint8_t>(mirrored, [](const auto& out) { flip_columns(source(), out); }),
            mirrored) == 0);
  const FixtureImage& upside = fixture("vertical_flip.u8");
  CHECK(largest_difference(
            make_like<std::uint8_t>(upside, [](const auto& out) { flip_rows(source(), out); }),
            upside) == 0);
}

TEST_CASE("rotate agrees with torchvision") {
  const auto turned = [](const FixtureImage& wanted, double angle, bool bilinear, float fill) {
    return make_like<std::uint8_t>(
        wanted, [&](const auto& out) { rotate(source(), out.data, angle, bilinear, fill); });
  };
  for (const auto& [angle, name] :
       {std::pair{17.0, std::string("17")}, std::pair{-40.0, std::string("-40")}}) {
    CAPTURE(name);
    // A coordinate halfway between two pixels may round to either.
    const FixtureImage& nearest = fixture("rotate_nearest_" + name + ".u8");
    CHECK(share_beyond(turned(nearest, angle, false, 0), nearest, 0) < 0.005);
    const FixtureImage& bilinear = fixture("rotate_bilinear_" + name + ".u8");
    CHECK(largest_difference(turned(bilinear, angle, true, 0), bilinear) <= 1);
  }
  const FixtureImage& filled = fixture("rotate_bilinear_17_fill90.u8");
  CHECK(largest_difference(turned(filled, 17, true, 90), filled) <= 1);
}

TEST_CASE("colour agrees with torchvision within 2") {
  const auto adjusted = [](ColorOp op, float factor) {
    Bytes pixels = source_pixels();
    change_color({pixels, 3}, op, factor);
    return pixels;
  };
  for (const auto& [factor, name] :
       {std::pair{0.6F, std::string("0.6")}, std::pair{1.45F, std::string("1.45")}}) {
    CAPTURE(name);
    CHECK(largest_difference(adjusted(ColorOp::brightness, factor),
                             fixture("brightness_" + name + ".u8")) <= 1);
    CHECK(largest_difference(adjusted(ColorOp::contrast, factor),
                             fixture("contrast_" + name + ".u8")) <= 1);
    CHECK(largest_difference(adjusted(ColorOp::saturation, factor),
                             fixture("saturation_" + name + ".u8")) <= 1);
  }
  CHECK(largest_difference(adjusted(ColorOp::hue, -0.3F), fixture("hue_-0.3.u8")) <= 2);
  CHECK(largest_difference(adjusted(ColorOp::hue, 0.12F), fixture("hue_0.12.u8")) <= 2);
  CHECK(adjusted(ColorOp::hue, 0.0F) == source_pixels());
  CHECK(adjusted(ColorOp::brightness, 1.0F) == source_pixels());
}

TEST_CASE("grayscale agrees with torchvision within 1") {
  const Bytes pixels = source_pixels();
  for (const std::int64_t channels : {1, 3}) {
    const FixtureImage& wanted = fixture("grayscale_" + std::to_string(channels) + ".u8");
    Bytes got(wanted.elements());
    to_grayscale(pixels, got, channels);
    CHECK(largest_difference(got, wanted) <= 1);
  }
}

TEST_CASE("gaussian blur agrees with torchvision within 1") {
  for (const auto& [size, sigma, name] :
       {std::tuple{5, 1.3, "blur_5_1.3.u8"}, std::tuple{9, 0.4, "blur_9_0.4.u8"}}) {
    Arena arena;
    const FixtureImage& wanted = fixture(name);
    Bytes got(wanted.elements());
    blur(source(), got.data(), gaussian_kernel(size, sigma, arena), arena);
    CHECK(largest_difference(got, wanted) <= 1);
  }
}

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kFixtures = std::string(CACHEBISECT_SOURCE_DIR) + "/tests/fixtures/decode/";

Sample encoded(const Bytes& bytes) {
  Sample sample;
  sample.field("image").assign(std::as_bytes(std::span(bytes)));
  return sample;
}

std::unique_ptr<SampleStage> decoder(const std::vector<NamedValue>& values = {}) {
  auto stage = make_stage<SampleStage>("decode.image", values);
  static_cast<void>(stage->infer({{"image", DType::uint8, {cachebisect::kDynamic}}}));
  return stage;
}

struct Expected {
  std::int64_t width;
  std::int64_t height;
  Bytes pixels;
};

Expected expected(const std::string& name) {
  const Bytes file = read_bytes(kFixtures + name);
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::memcpy(&width, file.data(), 4);
  std::memcpy(&height, file.data() + 4, 4);
  return {width, height, Bytes(file.begin() + 8, file.end())};
}

void check_equal(const Sample& sample, const Expected& wanted) {
  const auto& image = sample.field("image");
  CHECK(image.shape() == Shape{wanted.height, wanted.width, 3});
  const auto pixels = image.as<std::uint8_t>();
  REQUIRE(pixels.size() == wanted.pixels.size());
  int largest = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    largest = std::max(largest, std::abs(pixels[i] - wanted.pixels[i]));
  CHECK(largest == 0);
}

double mean_of(const Sample& sample) {
  const auto pixels = sample.field("image").as<std::uint8_t>();
  return std::accumulate(pixels.begin(), pixels.end(), 0.0) / static_cast<double>(pixels.size());
}

std::string decode_error(const SampleStage& stage, const Bytes& bytes) {
  const Sample input = encoded(bytes);
  return error_of([&] { process_sample(stage, input); });
}

void check_fixture(const SampleStage& stage, const std::string& file, const std::string& wanted) {
  CAPTURE(file);
  if (!decodable(file)) {
    CHECK(has(decode_error(stage, read_bytes(kFixtures + file)), "2: this build can"));
    return;
  }
  const Sample input = encoded(read_bytes(kFixtures + file));
  check_equal(process_sample(stage, input), expected(wanted));
}

const std::vector<std::string> kJpegs{
    "rgb_444.jpg",         "rgb_422.jpg",  "rgb_420.jpg", "rgb_420_progressive.jpg",
    "rgb_420_restart.jpg", "grey_jpg.jpg", "cmyk.jpg",    "exif_6.jpg"};
const std::vector<std::string> kOthers{
    "rgb.png",     "grey.png",      "grey16.png",    "bilevel.png", "palette.png",
    "rgba.png",    "rgb_bmp.bmp",   "grey_pgm.pgm",  "rgb_ppm.ppm", "palette_transparent.png",
    "rgb_tif.tif", "rgb_webp.webp", "grey_alpha.png"};

std::string stem(const std::string& file) { return file.substr(0, file.find('.')); }

}  // namespace

TEST_CASE("JPEG decodes to the same bytes as in Pillow") {
  const auto stage = decoder();
  for (const std::string& file : kJpegs) check_fixture(*stage, file, stem(file) + ".rgb");
}

TEST_CASE("other formats decode to the same bytes as in Pillow") {
  const auto stage = decoder();
  for (const std::string& file : kOthers) check_fixture(*stage, file, stem(file) + ".rgb");
}

TEST_CASE("EXIF orientation is applied only on request") {
  const auto upright = decoder({{"orientation", true}});
  const auto stored = decoder();
  std::vector<std::string> files{"exif_png.png", "exif_webp.webp"};
  for (int i = 1; i <= 8; ++i) files.push_back("exif_" + std::to_string(i) + ".jpg");
  for (const std::string& file : files) {
    check_fixture(*upright, file, stem(file) + ".upright.rgb");
    check_fixture(*stored, file, stem(file) + ".rgb");
  }
}

TEST_CASE("JPEG is decoded at a part of its size, rounded up") {
  for (const std::string& file : kJpegs) {
    CAPTURE(file);
    const Sample input = encoded(read_bytes(kFixtures + file));
    const Sample whole = process_sample(*decoder(), input);
    const Shape& size = whole.field("image").shape();
    for (const std::int64_t scale : {1, 2, 4, 8}) {
      CAPTURE(scale);
      const Sample part = process_sample(*decoder({{"scale", scale}}), input);
      const Shape smaller{(size[0] + scale - 1) / scale, (size[1] + scale - 1) / scale, 3};
      CHECK(part.field("image").shape() == smaller);
      CHECK(std::abs(mean_of(part) - mean_of(whole)) < 8);
    }
  }
}

TEST_CASE("formats other than JPEG are decoded at their size, and other scales are refused") {
  check_fixture(*decoder({{"scale", std::int64_t{4}}}), "rgb.png", "rgb.rgb");
  CHECK(has(usage_error([] { (void)decoder({{"scale", std::int64_t{3}}}); }), "1, 2, 4 or 8"));
}

TEST_CASE("the output is declared, and input that is not bytes is refused") {
  const auto stage = make_stage<SampleStage>("decode.image", {});
  CHECK(stage->infer({{"image", DType::uint8, {cachebisect::kDynamic}}})[0].shape ==
        Shape{cachebisect::kDynamic, cachebisect::kDynamic, 3});
  CHECK(has(error_of([&] {
              static_cast<void>(stage->infer({{"image", DType::uint8, {32, 32, 3}}}));
            }),
            "2: field \"image\" is uint8 [32, 32, 3], must be"));
}

TEST_CASE("the limit on pixels is checked from the header") {
  const auto stage = decoder({{"max_pixels", std::int64_t{48 * 37 - 1}}});
  for (const std::string file :
       {"rgb_420.jpg", "rgb.png", "rgb_bmp.bmp", "rgb_tif.tif", "rgb_webp.webp", "rgb_ppm.ppm"}) {
    CAPTURE(file);
    if (file.ends_with(".jpg") && !decodable(file)) continue;
    CHECK(has(decode_error(*stage, read_bytes(kFixtures + file)),
              "3: has 1776 pixels according to its header, more than \"max_pixels\" (1775)"));
  }
  // A small file that declares 30,000 x 30,000 pixels.
  Bytes bomb = read_bytes(kFixtures + "rgb.png");
  for (const std::size_t at : {16U, 20U}) {
    bomb[at + 2] = 0x75;
    bomb[at + 3] = 0x30;
  }
  CHECK(has(decode_error(*decoder(), bomb), "has 900000000 pixels"));
}

TEST_CASE("a TIFF of one pixel makes room for no huge tile") {
  // Number, type (3: SHORT, 4: LONG, 9: SLONG), value.
  using Tags = std::vector<std::array<std::uint32_t, 3>>;
  const auto tiff = [](std::uint32_t tile, std::uint32_t type) {
    const Tags tags{{256, 4, 1}, {257, 4, 1}, {258, 3, 8},       {259, 3, 1},
                    {262, 3, 1}, {277, 3, 1}, {322, type, tile}, {323, type, tile}};
    Bytes bytes{'I', 'I', '*', 0, 8, 0, 0, 0, static_cast<std::uint8_t>(tags.size()), 0};
    const auto put = [&bytes](std::uint32_t value, int width) {
      for (; width > 0; --width, value >>= 8U) bytes.push_back(static_cast<std::uint8_t>(value));
    };
    for (const auto& [id, kind, value] : tags) {
      put(id, 2);
      put(kind, 2);
      put(1, 4);
      put(value, 4);
    }
    put(0, 4);
    return bytes;
  };
  const auto stage = decoder();
  CHECK(has(decode_error(*stage, tiff(16384, 4)),
            "declares tiles of 268435456 pixels, and an image of 1"));
  CHECK(has(decode_error(*stage, tiff(16384, 9)), "has damaged tiles"));
  // Its decoder is asked for tiles of a usual size, and finds none.
  CHECK(has(decode_error(*stage, tiff(256, 4)), "damaged, truncated or unsupported TIFF"));
}

TEST_CASE("errors say that the bytes are empty, or not an image") {
  const auto stage = decoder();
  CHECK(has(decode_error(*stage, {}), "3: is empty"));
  CHECK(has(decode_error(*stage, {'h', 'e', 'l', 'l', 'o'}), "not an image of a known format"));
  if (decodable("x.jpg"))
    CHECK(has(decode_error(*stage, {0xFF, 0xD8, 0xFF}), "3: damaged or unreadable JPEG"));
  CHECK(has(decode_error(*stage, {'P', '6', ' ', '1'}), "the header of this PNM is damaged"));
  CHECK(has(decode_error(*stage, {'P', '6', ' ', '0', ' ', '4', ' '}), "declares no pixels"));
}

TEST_CASE("truncated images are errors, and the stage still works afterwards") {
  const auto stage = decoder();
  std::vector<std::string> files = kJpegs;
  for (const std::string file : {"rgb.png", "rgb_webp.webp", "rgb_tif.tif", "rgb_bmp.bmp"})
    files.push_back(file);
  for (const std::string& file : files) {
    if (!decodable(file)) continue;
    CAPTURE(file);
    Bytes bytes = read_bytes(kFixtures + file);
    bytes.resize(bytes.size() * 2 / 3);
    CHECK(has(decode_error(*stage, bytes), "3: "));
    check_fixture(*stage, file, stem(file) + ".rgb");
  }
}

#ifdef CACHEBISECT_WITH_TURBOJPEG
TEST_CASE("damage inside the entropy-coded data is an error") {
  Bytes bytes = read_bytes(kFixtures + "rgb_420_restart.jpg");
  const std::array<std::uint8_t, 2> restart{0xFF, 0xD3};
  const auto at = std::search(bytes.begin() + 600, bytes.end(), restart.begin(), restart.end());
  REQUIRE(at != bytes.end());
  bytes.erase(at - 6, at);
  CHECK(has(decode_error(*decoder(), bytes), "3: damaged or unreadable JPEG: Corrupt JPEG data"));
}

TEST_CASE("a file with junk after its end still has all its pixels") {
  const auto stage = decoder();
  Bytes bytes = read_bytes(kFixtures + "rgb_444.jpg");
  bytes.insert(bytes.end(), 100, 0x5A);
  const Sample input = encoded(bytes);
  check_equal(process_sample(*stage, input), expected("rgb_444.rgb"));
}

TEST_CASE("the fast transform differs slightly from the exact one") {
  const auto fast = decoder({{"dct", std::string("ifast")}});
  const Sample input = encoded(read_bytes(kFixtures + "rgb_444.jpg"));
  const Sample out = process_sample(*fast, input);
  const auto pixels = out.field("image").as<std::uint8_t>();
  const Expected exact = expected("rgb_444.rgb");
  int largest = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    largest = std::max(largest, std::abs(pixels[i] - exact.pixels[i]));
  CHECK(largest > 0);
  CHECK(largest <= 12);
}

TEST_CASE("threads share one stage") {
  const auto stage = decoder();
  const Bytes jpeg = read_bytes(kFixtures + "rgb_420.jpg");
  const bool with_png = decodable("rgb.png");
  const Bytes png = read_bytes(kFixtures + "rgb.png");
  const Expected wanted_jpeg = expected("rgb_420.rgb");
  const Expected wanted_png = expected("rgb.rgb");
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const Sample input = encoded(with_png && i % 5 == 0 ? png : jpeg);
          const Sample out = process_sample(*stage, input);
          const auto pixels = out.field("image").as<std::uint8_t>();
          const Bytes& wanted = with_png && i % 5 == 0 ? wanted_png.pixels : wanted_jpeg.pixels;
          if (!std::equal(pixels.begin(), pixels.end(), wanted.begin(), wanted.end())) ++wrong;
        }
      });
    }
  }
  CHECK(wrong == 0);
}
#endif

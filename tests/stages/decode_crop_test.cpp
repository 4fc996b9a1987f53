// decode.random_resized_crop: the same bytes as decode.image and augment.random_resized_crop.
#include <array>
#include <cstring>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kFixtureFolder = std::string(CACHEBISECT_SOURCE_DIR) + "/tests/fixtures/decode/";

Sample encoded_sample(const Bytes& bytes, std::uint64_t index) {
  Sample sample;
  sample.set_index({index});
  sample.field("image").assign(std::as_bytes(std::span(bytes)));
  return sample;
}

std::vector<NamedValue> crop_values(const std::string& interpolation) {
  return {{"size", std::int64_t{32}},
          {"scale", std::vector<double>{0.02, 1}},
          {"interpolation", interpolation}};
}

/// decode.image and the crop, and both in one.
struct Chains {
  explicit Chains(const std::string& interpolation, const std::vector<NamedValue>& decoding = {})
      : decode(make_stage<SampleStage>("decode.image", decoding)),
        crop(make_stage<SampleStage>("augment.random_resized_crop", crop_values(interpolation))) {
    std::vector<NamedValue> values = crop_values(interpolation);
    values.insert(values.end(), decoding.begin(), decoding.end());
    both = make_stage<SampleStage>("decode.random_resized_crop", values);
    const SampleSpec bytes{{"image", DType::uint8, {cachebisect::kDynamic}}};
    CHECK(crop->infer(decode->infer(bytes)) == both->infer(bytes));
  }

  /// Whether both give the same for this sample.
  [[nodiscard]] bool agree_on(const Sample& input) const {
    const Sample whole = process_sample(*decode, input);
    const Sample apart = process_sample(*crop, whole);
    const Sample together = process_sample(*both, input);
    const auto wanted = apart.field("image").as<std::uint8_t>();
    const auto got = together.field("image").as<std::uint8_t>();
    return std::ranges::equal(wanted, got);
  }

  std::unique_ptr<SampleStage> decode;
  std::unique_ptr<SampleStage> crop;
  std::unique_ptr<SampleStage> both;
};

void check_agreement(const Bytes& bytes, std::uint64_t crops,
                     const std::vector<NamedValue>& decoding = {}) {
  // nearest shows single pixels; bilinear looks at their neighbours.
  for (const std::string interpolation : {"nearest", "bilinear"}) {
    const Chains chains(interpolation, decoding);
    for (std::uint64_t index = 0; index < crops; ++index) {
      CAPTURE(interpolation);
      CAPTURE(index);
      REQUIRE(chains.agree_on(encoded_sample(bytes, index)));
    }
  }
}

/// A photo of 500 x 375 pixels, 4:2:0.
Bytes photo() {
  static const TemporaryFolder folder;
  const auto source = make_source(
      "read.image_folder", folder.path("photos"),
      {{"if_missing", std::string("generate")}, {"generated_samples", std::int64_t{10}}});
  source->open();
  const Sample sample = read_sample(*source, 0);
  const auto bytes = sample.field("image").as<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a crop that is decoded alone has the values of one that is cut from the whole image") {
  for (const std::string file :
       {"rgb_444.jpg", "rgb_422.jpg", "rgb_420.jpg", "rgb_420_progressive.jpg",
        "rgb_420_restart.jpg", "grey_jpg.jpg", "cmyk.jpg", "exif_6.jpg", "rgb.png"}) {
    if (!decodable(file)) continue;
    CAPTURE(file);
    const Bytes bytes = read_bytes(kFixtureFolder + file);
    check_agreement(bytes, 100);
    check_agreement(bytes, 20, {{"orientation", true}});
    check_agreement(bytes, 20, {{"dct", std::string("ifast")}});
  }
}

#ifdef CACHEBISECT_WITH_TURBOJPEG
TEST_CASE("the same for a photo") { check_agreement(photo(), 60); }

TEST_CASE("damage behind the crop is not read, damage before it is an error") {
  const Bytes whole = photo();
  const Chains chains("bilinear");
  int passed = 0;
  int refused = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    Bytes bytes = whole;
    bytes.resize(3 * bytes.size() / 4);
    const Sample input = encoded_sample(bytes, index);
    const std::string error = error_of([&] { process_sample(*chains.both, input); });
    error.empty() ? ++passed : ++refused;
    if (error.empty()) {
      const Sample apart = process_sample(*chains.both, encoded_sample(whole, index));
      const Sample cut = process_sample(*chains.both, input);
      CHECK(std::ranges::equal(apart.field("image").as<std::uint8_t>(),
                               cut.field("image").as<std::uint8_t>()));
    } else {
      CHECK(has(error, "damaged or unreadable JPEG"));
    }
  }
  CHECK(passed > 0);
  CHECK(refused > 0);
}
#endif

TEST_CASE("what cannot be decoded is refused in the words of decode.image") {
  const Chains chains("bilinear");
  CHECK(has(error_of([&] { process_sample(*chains.both, encoded_sample({}, 0)); }), "is empty"));
  const Bytes text{'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '!'};
  CHECK(has(error_of([&] { process_sample(*chains.both, encoded_sample(text, 0)); }),
            "is not an image of a known format"));
}

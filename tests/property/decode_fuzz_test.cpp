// Random damage to input files must give an Error or a result. Deterministic; run it under the
// sanitizers too.
#include <algorithm>
#include <span>

#include "support/files.hpp"
#include "support/fuzz_cases.hpp"
#include "support/stage_maker.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kFixtures = std::string(CACHEBISECT_SOURCE_DIR) + "/tests/fixtures/decode/";

/// Changes a few bytes, removes or repeats a piece, or truncates; headers more often.
Bytes mutate(Bytes bytes, RandomStream& random) {
  const auto place = [&] {
    return random.below(random.below(2) == 0 ? std::min<std::size_t>(bytes.size(), 64)
                                             : bytes.size());
  };
  for (std::uint64_t n = random.below(4) + 1; n > 0 && !bytes.empty(); --n) {
    const std::uint64_t at = place();
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto length =
        static_cast<std::ptrdiff_t>(std::min(random.below(40) + 1, bytes.size() - at));
    switch (random.below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.erase(here, here + length);
        break;
      case 2: {
        const Bytes piece(here, here + length);
        bytes.insert(here, piece.begin(), piece.end());
        break;
      }
      case 3:
        *here = random.below(2) == 0 ? 0xFF : 0;
        break;
      case 4:
        *here ^= static_cast<std::uint8_t>(1U << random.below(8));
        break;
      default:
        *here = static_cast<std::uint8_t>(random.below(256));
    }
  }
  return bytes;
}

/// Results of the mutations of one file.
struct Outcome {
  int good = 0;
  int refused = 0;
};

/// Counts an Error(data) as refused; anything else that is thrown fails the test.
template <class Call>
void count(Outcome& outcome, const Call& call) {
  try {
    call();
    ++outcome.good;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    ++outcome.refused;
  }
}

void fuzz_image(const std::string& file, std::uint64_t rounds,
                const std::string& type = "decode.image") {
  if (!decodable(file)) return;
  CAPTURE(file);
  std::vector<NamedValue> values{{"max_pixels", std::int64_t{20'000}}, {"orientation", true}};
  if (type != "decode.image") values.push_back({"size", std::int64_t{16}});
  const auto stage = make_stage<SampleStage>(type, values);
  const Bytes sound = read_bytes(kFixtures + file);
  Outcome outcome;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    CAPTURE(i);
    RandomStream random({.seed = 1, .index = i, .stage = hash_name(file)});
    const Bytes bytes = mutate(sound, random);
    Sample input;
    input.set_index({i});
    input.field("image").assign(std::as_bytes(std::span(bytes)));
    count(outcome, [&] {
      const Sample out = process_sample(*stage, input);
      const auto& shape = out.field("image").shape();
      CHECK(shape.rank() == 3);
      CHECK(shape[0] * shape[1] <= 20'000);
    });
  }
  CHECK(outcome.refused > 0);
}

}  // namespace

TEST_CASE("damaged JPEG files decode or are refused") {
  for (const std::string file :
       {"rgb_420.jpg", "rgb_420_progressive.jpg", "rgb_420_restart.jpg", "cmyk.jpg", "exif_6.jpg"})
    fuzz_image(file, fuzz_cases(400));
}

TEST_CASE("crops of damaged JPEG files decode or are refused") {
  for (const std::string file :
       {"rgb_420.jpg", "rgb_420_progressive.jpg", "rgb_420_restart.jpg", "cmyk.jpg", "exif_6.jpg"})
    fuzz_image(file, fuzz_cases(400), "decode.random_resized_crop");
}

TEST_CASE("damaged files of other formats decode or are refused") {
  for (const std::string file : {"rgb.png", "palette_transparent.png", "exif_webp.webp",
                                 "rgb_bmp.bmp", "rgb_tif.tif", "rgb_ppm.ppm"})
    fuzz_image(file, fuzz_cases(100));
}

TEST_CASE("damaged IDX files load or are refused") {
  Bytes images{0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 28, 0, 0, 0, 28};
  images.resize(16 + 4 * 784, 7);
  Bytes labels{0, 0, 8, 1, 0, 0, 0, 4, 1, 2, 3, 4};
  const TemporaryFolder folder;
  Outcome outcome;
  for (std::uint64_t i = 0; i < fuzz_cases(300); ++i) {
    CAPTURE(i);
    RandomStream random({.seed = 2, .index = i});
    const bool in_images = random.below(2) == 0;
    folder.write("train-images-idx3-ubyte", in_images ? mutate(images, random) : images);
    folder.write("train-labels-idx1-ubyte", in_images ? labels : mutate(labels, random));
    count(outcome, [&] {
      const auto source = make_stage<SourceStage>("read.mnist", {{"path", folder.path()}});
      source->open();
      for (std::uint64_t s = 0; s < source->size(); ++s) read_sample(*source, s);
    });
  }
  CHECK(outcome.good > 0);
  CHECK(outcome.refused > 0);
}

TEST_CASE("damaged CIFAR files load or are refused") {
  const TemporaryFolder folder;
  Outcome outcome;
  for (std::uint64_t i = 0; i < fuzz_cases(200); ++i) {
    CAPTURE(i);
    RandomStream random({.seed = 3, .index = i});
    const std::string file = folder.write("train.bin", mutate(Bytes(2 * 3074, 9), random));
    count(outcome, [&] {
      const auto source = make_stage<SourceStage>("read.cifar100", {{"path", file}});
      source->open();
      for (std::uint64_t s = 0; s < source->size(); ++s) read_sample(*source, s);
    });
  }
  CHECK(outcome.good > 0);
  CHECK(outcome.refused > 0);
}

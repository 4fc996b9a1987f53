// decode.video: films that PyAV wrote, parts of them, damage, limits.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kVideoFolder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/video/";
const std::vector<std::string> kFilms{"h264.mp4", "vp9.webm", "mpeg4.avi", "h264.mkv"};
constexpr std::int64_t kFilmFrames = 30;
constexpr std::size_t kPictureBytes = std::size_t{64} * 48 * 3;

std::unique_ptr<SampleStage> video_stage(std::vector<NamedValue> values) {
  auto stage = make_stage<SampleStage>("decode.video", values);
  static_cast<void>(stage->infer({{"image", DType::uint8, {kDynamic}}}));
  stage->open();
  return stage;
}

/// Whether this build has libav; if not, the error says what would be right.
bool built_with_video() {
  const std::string error = error_of([] { video_stage({}); });
  if (error.empty()) return true;
  CHECK(has(error, "2: this build has no video decoder (libav); install libavformat-dev"));
  return false;
}

struct Clip {
  Shape shape;
  std::vector<std::uint8_t> pixels;

  /// The number of the film's frame that lies at `frame`, by its lightness.
  [[nodiscard]] std::int64_t number(std::int64_t frame) const {
    const auto picture = static_cast<std::size_t>(shape[1] * shape[2] * 3);
    double red = 0;
    for (std::size_t i = 0; i < picture; i += 3)
      red += pixels[static_cast<std::size_t>(frame) * picture + i];
    return std::lround((red * 3 / static_cast<double>(picture) - 18) / 7);
  }
};

Clip decode_clip(const SampleStage& stage, const std::string& bytes, std::uint64_t index = 0) {
  Sample input;
  input.set_index({index});
  input.field("image").assign(bytes);
  const Sample out = process_sample(stage, input);
  const Field& field = out.field("image");
  const auto pixels = field.as<std::uint8_t>();
  return {field.shape(), {pixels.begin(), pixels.end()}};
}

std::string clip_error(const std::string& bytes, const std::vector<NamedValue>& values) {
  return error_of([&] { decode_clip(*video_stage(values), bytes); });
}

std::int64_t count_of(std::int64_t value) { return value; }

}  // namespace

TEST_CASE("frames have the pixels that PyAV decodes, wherever a sample begins") {
  if (!built_with_video()) return;
  constexpr std::int64_t kShown[] = {0, 13, 29};
  for (const std::string& film : kFilms) {
    CAPTURE(film);
    const std::string bytes = read_file(kVideoFolder + film);
    const std::string expected = read_file(kVideoFolder + film + ".rgb");
    for (std::size_t shown = 0; shown < 3; ++shown) {
      CAPTURE(kShown[shown]);
      const Clip clip =
          decode_clip(*video_stage({{"frames", count_of(1)}, {"start", kShown[shown]}}), bytes);
      REQUIRE(clip.shape == Shape{1, 48, 64, 3});
      int most = 0;
      for (std::size_t i = 0; i < kPictureBytes; ++i) {
        const auto wanted = static_cast<std::uint8_t>(expected[shown * kPictureBytes + i]);
        most = std::max(most, std::abs(int{clip.pixels[i]} - int{wanted}));
      }
      CHECK(most <= 4);  // of two versions of libswscale
    }
  }
}

TEST_CASE("each frame of a film can be the first, and a stride leaves frames out") {
  if (!built_with_video()) return;
  for (const std::string& film : kFilms) {
    CAPTURE(film);
    const std::string bytes = read_file(kVideoFolder + film);
    for (std::int64_t start = 0; start + 6 < kFilmFrames - 2; ++start) {
      CAPTURE(start);
      const Clip clip = decode_clip(
          *video_stage({{"frames", count_of(3)}, {"stride", count_of(3)}, {"start", start}}),
          bytes);
      REQUIRE(clip.shape == Shape{3, 48, 64, 3});
      for (std::int64_t i = 0; i < 3; ++i) CHECK(clip.number(i) == start + 3 * i);
    }
  }
}

TEST_CASE("without a start the place is random, and the same for the same sample") {
  if (!built_with_video()) return;
  for (const std::string& film : kFilms) {
    CAPTURE(film);
    const std::string bytes = read_file(kVideoFolder + film);
    const auto stage = video_stage({{"frames", count_of(2)}, {"size", count_of(16)}});
    std::set<std::int64_t> places;
    for (std::uint64_t index = 0; index < 60; ++index) {
      const Clip clip = decode_clip(*stage, bytes, index);
      REQUIRE(clip.shape == Shape{2, 16, 16, 3});
      places.insert(clip.number(0));
      CHECK(clip.number(1) == clip.number(0) + 1);
      CHECK(decode_clip(*stage, bytes, index).pixels == clip.pixels);
    }
    CHECK(places.size() > 15);
    CHECK(*places.begin() >= 0);
    CHECK(*places.rbegin() < kFilmFrames - 1);
  }
}

TEST_CASE("what a film does not have is refused") {
  if (!built_with_video()) return;
  const std::string film = read_file(kVideoFolder + "h264.mp4");
  CHECK(clip_error(film, {{"frames", count_of(31)}}) ==
        "3: has 30 frames, and a sample spans 31 from frame 0");
  CHECK(clip_error(film,
                   {{"frames", count_of(4)}, {"stride", count_of(2)}, {"start", count_of(24)}}) ==
        "3: has 30 frames, and a sample spans 7 from frame 24");
  CHECK(has(clip_error(film, {{"max_pixels", count_of(64 * 48 - 1)}}),
            "3: has frames of 64 x 48 pixels, over \"max_pixels\", 3071"));
  CHECK(has(clip_error(film, {{"frames", count_of(1000)}, {"size", count_of(16'384)}}),
            "2: 1000 frames of 16384 x 16384 pixels are more than 1 GiB"));
  CHECK(has(clip_error(film, {{"timeout_s", 1e-9}}), "3: took longer than \"timeout_s\""));
  CHECK(clip_error("", {}) == "3: is empty");
  CHECK(has(clip_error(std::string(3000, 'x'), {}), "3: is no video that libav can read: "));
  CHECK(has(clip_error("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/passwd\n", {}),
            "3: is no video that libav can read: "));
  const std::string wav = read_file(CACHEBISECT_SOURCE_DIR "/tests/fixtures/conformance/tiny.wav");
  CHECK(has(clip_error(wav, {}), "3: is no video that libav can read: "));
}

TEST_CASE("a film that is cut off or overwritten is refused") {
  if (!built_with_video()) return;
  for (const std::string& film : kFilms) {
    CAPTURE(film);
    const std::string bytes = read_file(kVideoFolder + film);
    const std::vector<NamedValue> all{{"frames", count_of(28)}, {"start", count_of(0)}};
    CHECK(clip_error(bytes, all).empty());
    CHECK(has(clip_error(bytes.substr(0, bytes.size() / 2), all), "3: "));
  }
}

TEST_CASE("flipped bits of a film never crash: frames or an error of the data") {
  if (!built_with_video()) return;
  const auto stage = video_stage({{"frames", count_of(2)}, {"size", count_of(16)}});
  for (const std::string& film : kFilms) {
    const std::string bytes = read_file(kVideoFolder + film);
    for (std::size_t at = 0; at < bytes.size(); at += at < 300 ? 3 : 41) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ 0xFFU);
      const std::string error = error_of([&] { decode_clip(*stage, flipped); });
      CAPTURE(film);
      CAPTURE(at);
      CHECK((error.empty() || error.starts_with("3: ")));
    }
  }
}

// decode.audio: files that soundfile wrote, parts of them, damage and hostile headers.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stages/conformance.hpp"
#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const std::string kAudioFolder = CACHEBISECT_SOURCE_DIR "/tests/fixtures/audio/";

std::unique_ptr<SampleStage> audio_stage(const std::vector<NamedValue>& values = {}) {
  auto stage = make_stage<SampleStage>("decode.audio", values);
  static_cast<void>(stage->infer({{"image", DType::uint8, {kDynamic}}}));
  stage->open();
  return stage;
}

/// Whether this build has libsndfile; if not, the error says what would be right.
bool built_with_audio() {
  const std::string error = error_of([] { audio_stage(); });
  if (error.empty()) return true;
  CHECK(has(error, "2: this build has no audio decoder (libsndfile); build with"));
  return false;
}

struct DecodedAudio {
  Shape shape;
  std::vector<float> values;
};

DecodedAudio decode_part(const SampleStage& stage, const std::string& bytes,
                         std::uint64_t index = 0, std::uint64_t epoch = 0) {
  Sample input;
  input.set_index({index});
  input.field("image").assign(bytes);
  Sample out;
  out.begin_from(input);
  Arena arena;
  stage.process(input, out, SampleContext({.epoch = epoch, .index = index}, arena));
  const Field& field = out.field("image");
  const auto values = field.as<float>();
  return {field.shape(), {values.begin(), values.end()}};
}

/// The frames that soundfile reads.
std::vector<float> soundfile_frames(const std::string& name) {
  const std::string bytes = read_file(kAudioFolder + name + ".f32");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The largest difference of decoded channels from frames, of which they begin at `first`.
double audio_difference(const DecodedAudio& decoded, const std::vector<float>& frames,
                        std::size_t first) {
  const auto channels = static_cast<std::size_t>(decoded.shape[0]);
  const auto count = static_cast<std::size_t>(decoded.shape[1]);
  double most = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (first + i) * channels + c;
      const float wanted = at < frames.size() ? frames[at] : 0;
      most = std::max(most, std::abs(static_cast<double>(decoded.values[c * count + i] - wanted)));
    }
  }
  return most;
}

std::string audio_error(const std::string& bytes, const std::vector<NamedValue>& values = {}) {
  return error_of([&] { decode_part(*audio_stage(values), bytes); });
}

void put_little(std::string& bytes, std::size_t at, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes[at + static_cast<std::size_t>(i)] =
        static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xFFU);
}

struct AudioFixture {
  std::string name;
  Shape shape;
  double tolerance;
};
const std::vector<AudioFixture> kAudioFixtures{{"pcm16.wav", {2, 1000}, 0},
                                               {"float.wav", {1, 500}, 0},
                                               {"pcm24.flac", {3, 700}, 0},
                                               {"vorbis.ogg", {2, 2000}, 1e-4}};

}  // namespace

TEST_CASE("audio has the values that soundfile reads, channel by channel") {
  if (!built_with_audio()) return;
  const auto stage = audio_stage();
  for (const AudioFixture& fixture : kAudioFixtures) {
    const std::string& name = fixture.name;
    const Shape& shape = fixture.shape;
    const double tolerance = fixture.tolerance;
    CAPTURE(name);
    const DecodedAudio decoded = decode_part(*stage, read_file(kAudioFolder + name));
    REQUIRE(decoded.shape == shape);
    CHECK(audio_difference(decoded, soundfile_frames(name), 0) <= tolerance);
  }
}

TEST_CASE("a part begins at its offset, and silence follows the end") {
  if (!built_with_audio()) return;
  for (const AudioFixture& fixture : kAudioFixtures) {
    const std::string& name = fixture.name;
    const Shape& shape = fixture.shape;
    const double tolerance = fixture.tolerance;
    CAPTURE(name);
    const std::string bytes = read_file(kAudioFolder + name);
    const auto part = [&](double offset, double seconds) {
      return decode_part(*audio_stage({{"offset", offset}, {"seconds", seconds}}), bytes);
    };
    const DecodedAudio inner = part(0.025, 0.0125);
    REQUIRE(inner.shape == Shape{shape[0], 100});
    CHECK(audio_difference(inner, soundfile_frames(name), 200) <= tolerance);
    const DecodedAudio beyond = part(0.0375, 0.5);
    REQUIRE(beyond.shape == Shape{shape[0], 4000});
    CHECK(audio_difference(beyond, soundfile_frames(name), 300) <= tolerance);
    CHECK(beyond.values.back() == 0);
    const DecodedAudio rest = decode_part(*audio_stage({{"offset", 0.05}}), bytes);
    REQUIRE(rest.shape == Shape{shape[0], shape[1] - 400});
    CHECK(audio_difference(rest, soundfile_frames(name), 400) <= tolerance);
    CHECK(has(audio_error(bytes, {{"offset", 10.0}}), "and \"offset\" is 80000 of them"));
  }
  const std::string wav = read_file(kAudioFolder + "pcm16.wav");
  CHECK(has(audio_error(wav, {{"channels", std::int64_t{1}}}),
            "3: has 2 channels, and \"channels\" is 1"));
  CHECK(has(audio_error(wav, {{"max_elements", std::int64_t{1999}}}),
            "3: would be 1000 frames of 2 channels, over \"max_elements\", 1999"));
}

TEST_CASE("without an offset the place is random, and the same for the same sample and epoch") {
  if (!built_with_audio()) return;
  const auto stage = audio_stage({{"seconds", 0.0125}});
  const std::string bytes = read_file(kAudioFolder + "pcm24.flac");
  const std::vector<float> frames = soundfile_frames("pcm24.flac");
  std::set<std::size_t> places;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const DecodedAudio decoded = decode_part(*stage, bytes, index, 1);
    REQUIRE(decoded.shape == Shape{3, 100});
    std::size_t first = 0;
    while (first <= 600 && audio_difference(decoded, frames, first) > 0) ++first;
    REQUIRE(first <= 600);
    places.insert(first);
    CHECK(decode_part(*stage, bytes, index, 1).values == decoded.values);
  }
  CHECK(places.size() > 30);
}

TEST_CASE("damaged audio is refused, and never more memory taken than it can hold") {
  if (!built_with_audio()) return;
  CHECK(audio_error("") == "3: is empty");
  CHECK(has(audio_error(std::string(3000, 'x')), "3: is no audio that libsndfile can decode: "));
  const std::string flac = read_file(kAudioFolder + "pcm24.flac");
  // The 36 bits of the frames' number, in the header.
  std::string vast = flac;
  for (std::size_t at = 22; at < 26; ++at) vast[at] = '\xFF';
  vast[21] = static_cast<char>(static_cast<unsigned char>(vast[21]) | 0x0FU);
  const std::uint64_t before = allocated_bytes;
  const auto refused = [&](const std::string& bytes, const std::vector<NamedValue>& values = {}) {
    const std::string error = audio_error(bytes, values);
    CHECK(has(error, "3: "));
    return error;
  };
  CHECK(has(refused(vast), "over \"max_elements\""));
  std::string large = flac;  // 67,108,863 frames: within the limit, beyond the file
  large[22] = '\x03';
  for (std::size_t at = 23; at < 26; ++at) large[at] = '\xFF';
  refused(large);
  CHECK(has(refused(flac.substr(0, flac.size() / 2)), "is damaged or cut off at frame"));
  std::string noise = flac;
  for (std::size_t at = noise.size() / 2; at < noise.size(); ++at) noise[at] = '\x55';
  refused(noise);
  std::string wav = read_file(kAudioFolder + "pcm16.wav");
  put_little(wav, 24, 0xFFFF'FFFF, 4);  // frames a second
  refused(wav, {{"seconds", 1.0}});
  CHECK(allocated_bytes - before < std::uint64_t{64} << 20U);
}

TEST_CASE("flipped bits of audio never crash: values or an error of the data") {
  if (!built_with_audio()) return;
  const auto stage = audio_stage({{"seconds", 0.05}});
  for (const auto& fixture : kAudioFixtures) {
    if (fixture.name == "vorbis.ogg") continue;  // libsndfile 1.2 leaks where its header is damaged
    const std::string whole = read_file(kAudioFolder + fixture.name);
    for (std::size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 37) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 0xFFU);
      const std::string error = error_of([&] { decode_part(*stage, bytes); });
      CAPTURE(fixture.name);
      CAPTURE(at);
      CHECK((error.empty() || error.starts_with("3: ")));
    }
  }
}

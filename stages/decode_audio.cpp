// decode.audio: WAV, FLAC, Ogg and others by libsndfile, whole or a part, to channels of float32.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stages/codecs/audio.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

/// Claims of more are checked before memory is taken for them: 16 MiB of float32.
constexpr std::int64_t kTrustedElements = std::int64_t{1} << 22U;
constexpr std::int64_t kBlockElements = std::int64_t{1} << 16U;
constexpr double kDefaultMaxElements = 268'435'456;  // 1 GiB of float32

std::string frames_text(std::int64_t frames) { return std::to_string(frames) + " frames"; }

[[noreturn]] void refuse_audio(const std::string& what) { throw Error(ErrorKind::data, what); }

/// Which frames a sample gets; those from the end of the audio on are silence.
struct AudioPart {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class DecodeAudio final : public FieldStage {
 public:
  explicit DecodeAudio(const Params& params)
      : FieldStage(params), max_elements_(params.integer("max_elements")) {
    if (params.has("seconds")) seconds_ = params.number("seconds");
    if (params.has("offset")) offset_ = params.number("offset");
    if (params.has("channels")) channels_ = params.integer("channels");
  }

  void open() override { open_ = open_audio_module(); }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, {kDynamic}, "the bytes of encoded audio");
    return {input.name, DType::float32, {channels_.value_or(kDynamic), kDynamic}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const std::span<const std::byte> bytes = checked_bytes(input, {kDynamic});
    if (bytes.empty()) refuse_audio("is empty");
    const std::unique_ptr<AudioStream> audio(open_(bytes));
    check_facts(audio->facts());
    const AudioPart part = choose(audio->facts(), context);
    const std::int64_t channels = audio->facts().channels;
    if (part.count > max_elements_ / channels) {
      refuse_audio("would be " + frames_text(part.count) + " of " + std::to_string(channels) +
                   " channels, over \"max_elements\", " + std::to_string(max_elements_) +
                   "; give \"seconds\"");
    }
    go_to(*audio, part);
    decode(*audio, part, out.resize_as<float>({channels, part.count}), context.arena());
  }

  void check_facts(const AudioFacts& facts) const {
    constexpr std::int64_t kMostRate = 10'000'000;
    if (facts.channels < 1 || facts.rate < 1 || facts.rate > kMostRate || facts.frames < 0) {
      refuse_audio("claims " + std::to_string(facts.channels) + " channels of " +
                   frames_text(facts.frames) + ", " + std::to_string(facts.rate) + " a second");
    }
    if (facts.frames == 0) refuse_audio("has no frames");
    if (channels_ && *channels_ != facts.channels) {
      refuse_audio("has " + std::to_string(facts.channels) + " channels, and \"channels\" is " +
                   std::to_string(*channels_));
    }
  }

  [[nodiscard]] AudioPart choose(const AudioFacts& facts, const SampleContext& context) const {
    const auto frames_of = [&](double seconds) {
      // Beyond any audio, so that products and sums fit.
      return static_cast<std::int64_t>(
          std::llround(std::min(seconds * static_cast<double>(facts.rate), 1e15)));
    };
    AudioPart part{0, facts.frames};
    if (offset_) {
      part.first = frames_of(*offset_);
      if (part.first >= facts.frames) {
        refuse_audio("ends at " + frames_text(facts.frames) + ", and \"offset\" is " +
                     std::to_string(part.first) + " of them");
      }
      part.count = facts.frames - part.first;
    }
    if (!seconds_) return part;
    part.count = std::max<std::int64_t>(1, frames_of(*seconds_));
    if (!offset_ && part.count < facts.frames) {
      const auto places = static_cast<std::uint64_t>(facts.frames - part.count + 1);
      part.first = static_cast<std::int64_t>(context.random().below(places));
    }
    return part;
  }

  /// Goes to the first frame. Memory is taken for many frames only if the last of them is there.
  static void go_to(AudioStream& audio, const AudioPart& part) {
    const AudioFacts& facts = audio.facts();
    const std::int64_t end = std::min(part.first + part.count, facts.frames);
    const bool large = end - part.first > kTrustedElements / facts.channels;
    if (large) {
      std::vector<float> frame(static_cast<std::size_t>(facts.channels));
      if (!audio.seek(end - 1) || audio.read(frame) != 1)
        refuse_audio("claims " + frames_text(facts.frames) + " that it does not hold");
    }
    if ((large || part.first > 0) && !audio.seek(part.first)) {
      refuse_audio("is damaged: frame " + std::to_string(part.first) + " of " +
                   std::to_string(facts.frames) + " cannot be reached");
    }
  }

  /// From frames of all channels to channels of all frames.
  static void decode(AudioStream& audio, const AudioPart& part, std::span<float> out,
                     Arena& arena) {
    const auto channels = static_cast<std::size_t>(audio.facts().channels);
    const auto total = static_cast<std::size_t>(part.count);
    const auto there =
        static_cast<std::size_t>(std::min(part.count, audio.facts().frames - part.first));
    const std::size_t block = std::max<std::size_t>(1, kBlockElements / channels);
    const std::span<float> frames = arena.take_array<float>(std::min(block, there) * channels);
    for (std::size_t done = 0; done < there;) {
      const std::size_t wanted = std::min(block, there - done);
      const std::int64_t got = audio.read(frames.first(wanted * channels));
      if (got != static_cast<std::int64_t>(wanted)) {
        refuse_audio("is damaged or cut off at frame " +
                     std::to_string(part.first + static_cast<std::int64_t>(done) + got) + " of " +
                     std::to_string(audio.facts().frames));
      }
      for (std::size_t channel = 0; channel < channels; ++channel) {
        for (std::size_t i = 0; i < wanted; ++i)
          out[channel * total + done + i] = frames[i * channels + channel];
      }
      done += wanted;
    }
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const std::span<float> row = out.subspan(channel * total, total);
      std::ranges::fill(row.subspan(there), 0.0F);
    }
  }

  std::optional<double> seconds_;
  std::optional<double> offset_;  ///< empty: random, if `seconds` is given
  std::optional<std::int64_t> channels_;
  std::int64_t max_elements_;
  OpenAudio open_ = nullptr;
};

}  // namespace

void register_decode_audio(Registry& registry) {
  registry.add(
      {.type = "decode.audio",
       .doc = "WAV, FLAC, Ogg, AIFF or MP3 bytes to float32 [channels, frames], whole or a part of "
              "a fixed length, to which it seeks",
       .kind = StageKind::sample,
       .traits = {.random = true, .allocates = true},
       .params = {{.name = "seconds",
                   .type = ParamType::number,
                   .doc = "length of the part, in seconds; shorter audio is followed by silence; "
                          "absent: all",
                   .optional = true,
                   .minimum = 0,
                   .maximum = 1e6,
                   .exclusive_minimum = true},
                  {.name = "offset",
                   .type = ParamType::number,
                   .doc =
                       "beginning of the part, in seconds; absent: a random place, if `seconds` is "
                       "given",
                   .optional = true,
                   .minimum = 0,
                   .maximum = 1e9},
                  {.name = "channels",
                   .type = ParamType::integer,
                   .doc = "refuse audio of another number of channels; absent: any",
                   .optional = true,
                   .minimum = 1,
                   .maximum = 1024},
                  {.name = "max_elements",
                   .type = ParamType::integer,
                   .doc = "refuse a sample of more values, channels times frames",
                   .default_value = static_cast<std::int64_t>(kDefaultMaxElements),
                   .minimum = 1,
                   .maximum = kDefaultMaxElements}},
       .example = R"({"seconds": 0.05})",
       .make = [](const Params& params) { return std::make_unique<DecodeAudio>(params); }});
}

}  // namespace cachebisect::stages

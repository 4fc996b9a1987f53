// decode.video: some frames of a video, by libav, which seeks to the key frame before them.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stages/codecs/video.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::int64_t kMostClipBytes = std::int64_t{1} << 30U;
constexpr std::int64_t kRgb = 3;

class DecodeVideo final : public FieldStage {
 public:
  explicit DecodeVideo(const Params& params)
      : FieldStage(params),
        frames_(params.integer("frames")),
        stride_(params.integer("stride")),
        size_(optional_size(params)),
        limits_{params.integer("max_pixels"), params.number("timeout_s")} {
    if (params.has("start")) start_ = params.integer("start");
    if (size_) require_clip(*size_, ErrorKind::usage);
  }

  void open() override { open_ = open_video_module(); }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, {kDynamic}, "the bytes of an encoded video");
    const ImageSize size = size_.value_or(ImageSize{kDynamic, kDynamic});
    return {input.name, DType::uint8, {frames_, size.height, size.width, kRgb}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const std::span<const std::byte> bytes = checked_bytes(input, {kDynamic});
    if (bytes.empty()) throw Error(ErrorKind::data, "is empty");
    const std::unique_ptr<VideoStream> video(open_(bytes, limits_));
    const VideoFacts& facts = video->facts();
    const ImageSize size = size_.value_or(ImageSize{facts.height, facts.width});
    require_clip(size, ErrorKind::data);
    const std::int64_t start = choose_start(facts, context);
    video->seek(start);
    require_frame(video->next(), start, 0);
    const TensorView clip = out.resize(DType::uint8, {frames_, size.height, size.width, kRgb});
    auto* to = reinterpret_cast<std::uint8_t*>(clip.data);
    for (std::int64_t i = 0; i < frames_; ++i, to += size.height * size.width * kRgb) {
      for (std::int64_t step = i == 0 ? stride_ : 0; step < stride_; ++step)
        require_frame(video->next(), start, (i - 1) * stride_ + step + 1);
      video->write_rgb(size.width, size.height, to);
    }
  }

  /// Frames from the first to the last of a sample.
  [[nodiscard]] std::int64_t span() const noexcept { return (frames_ - 1) * stride_ + 1; }

  [[nodiscard]] std::int64_t choose_start(const VideoFacts& facts,
                                          const SampleContext& context) const {
    const std::int64_t there = facts.frames;
    const bool known = facts.exact || (!start_ && there > 0);
    if (known && there - start_.value_or(0) < span()) {
      throw Error(ErrorKind::data, "has " + std::to_string(there) + " frames, and a sample spans " +
                                       std::to_string(span()) + " from frame " +
                                       std::to_string(start_.value_or(0)));
    }
    if (start_) return *start_;
    if (there == 0) {
      throw Error(ErrorKind::data,
                  "does not say how long it is, which a random start needs: give \"start\"");
    }
    return static_cast<std::int64_t>(
        context.random().below(static_cast<std::uint64_t>(there - span() + 1)));
  }

  static void require_frame(bool there, std::int64_t start, std::int64_t after) {
    if (there) return;
    throw Error(ErrorKind::data, "ends before frame " + std::to_string(start + after) +
                                     ": it is damaged or cut off");
  }

  void require_clip(const ImageSize& size, ErrorKind kind) const {
    if (size.width <= kMostClipBytes / kRgb / frames_ / size.height) return;
    throw Error(kind,
                std::to_string(frames_) + " frames of " + std::to_string(size.width) + " x " +
                    std::to_string(size.height) +
                    " pixels are more than 1 GiB; give fewer \"frames\" or a smaller \"size\"");
  }

  std::int64_t frames_;
  std::int64_t stride_;
  std::optional<std::int64_t> start_;  ///< empty: random
  std::optional<ImageSize> size_;      ///< empty: that of the video
  VideoLimits limits_;
  OpenVideo open_ = nullptr;
};

}  // namespace

void register_decode_video(Registry& registry) {
  StageType type{
      .type = "decode.video",
      .doc =
          "MP4, WebM, Matroska, AVI or MPEG bytes to some frames, RGB [frames, height, width, 3] "
          "uint8; seeks to the key frame before the first",
      .kind = StageKind::sample,
      .traits = {.random = true, .allocates = true},
      .params = {{.name = "frames",
                  .type = ParamType::integer,
                  .doc = "frames of a sample",
                  .default_value = std::int64_t{8},
                  .minimum = 1,
                  .maximum = 65'536},
                 {.name = "stride",
                  .type = ParamType::integer,
                  .doc = "from one frame of a sample to the next; 1: each frame",
                  .default_value = std::int64_t{1},
                  .minimum = 1,
                  .maximum = 65'536},
                 {.name = "start",
                  .type = ParamType::integer,
                  .doc = "number of the first frame, from 0; absent: random",
                  .optional = true,
                  .minimum = 0,
                  .maximum = 1e9},
                 {.name = "max_pixels",
                  .type = ParamType::integer,
                  .doc = "refuse videos with more pixels in a frame",
                  .default_value = std::int64_t{35'389'440},
                  .minimum = 1,
                  .maximum = 1e9},
                 {.name = "timeout_s",
                  .type = ParamType::number,
                  .doc = "give up on a sample after so many seconds",
                  .default_value = 60.0,
                  .minimum = 0,
                  .maximum = 1e6,
                  .exclusive_minimum = true}},
      .example = R"({"frames": 2, "stride": 2, "size": 32})",
      .make = [](const Params& params) { return std::make_unique<DecodeVideo>(params); }};
  add_size_params(type.params);
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages

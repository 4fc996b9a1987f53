// The module that codecs/video.hpp opens: the only code that links libav.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "stages/codecs/video.hpp"
#include "stages/modules/libav_handles.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {
namespace {

/// Containers that hold their video themselves: a playlist would open other files.
constexpr const char* kContainers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,ogg,flv,asf,h264,hevc,ivf";

/// Refuses what a container names outside its own bytes.
int open_nothing(AVFormatContext* /*format*/, AVIOContext** /*input*/, const char* /*url*/,
                 int /*flags*/, AVDictionary** /*options*/) {
  return AVERROR(EACCES);
}

class LibavStream final : public VideoStream {
 public:
  LibavStream(std::span<const std::byte> bytes, const VideoLimits& limits)
      : limits_(limits), ends_(monotonic_seconds() + limits.seconds), memory_(bytes) {
    open_container();
    open_decoder();
    set_facts();
  }

  void seek(std::int64_t frame) override {
    if (frame <= 0) return;
    const AVRational rate = mean_rate();
    const std::int64_t begin = stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time;
    // Half a frame early, because times are rounded.
    const std::int64_t ticks =
        av_rescale_q(2 * frame - 1, {rate.den, 2 * rate.num}, stream_->time_base);
    from_ = begin + ticks;
    first_after_seek_ = true;
    go_to(*from_);
  }

  bool next() override {
    for (;;) {
      check_time();
      const int got = avcodec_receive_frame(codec_.get(), frame_.get());
      if (got == AVERROR_EOF) return false;
      if (got == AVERROR(EAGAIN)) {
        send();
        continue;
      }
      if (got < 0) refuse_damage(got);
      if (is_before_wanted(frame_->best_effort_timestamp)) continue;
      if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0)
        refuse_video("has a damaged frame");
      return true;
    }
  }

  void write_rgb(std::int64_t width, std::int64_t height, std::uint8_t* out) override {
    const auto format = static_cast<AVPixelFormat>(frame_->format);
    scaler_.reset(sws_getCachedContext(scaler_.release(), frame_->width, frame_->height, format,
                                       static_cast<int>(width), static_cast<int>(height),
                                       AV_PIX_FMT_RGB24, SWS_BILINEAR | SWS_ACCURATE_RND, nullptr,
                                       nullptr, nullptr));
    if (!scaler_) refuse_video("has pixels that cannot become RGB");
    const std::array<std::uint8_t*, 4> planes{out, nullptr, nullptr, nullptr};
    const std::array<int, 4> strides{static_cast<int>(3 * width), 0, 0, 0};
    const int rows = sws_scale(scaler_.get(), frame_->data, frame_->linesize, 0, frame_->height,
                               planes.data(), strides.data());
    if (rows != static_cast<int>(height)) refuse_video("has pixels that cannot become RGB");
  }

 private:
  /// To the key frame at this time, or before it.
  void go_to(std::int64_t time) {
    const int done = av_seek_frame(format_.get(), stream_->index, time, AVSEEK_FLAG_BACKWARD);
    if (done < 0) refuse_video("cannot be read from its middle: " + libav_reason(done));
    avcodec_flush_buffers(codec_.get());
  }

  /// Whether a frame is before the one that seek() names. The last of them ends the search.
  bool is_before_wanted(std::int64_t time) {
    if (!from_) return false;
    if (time == AV_NOPTS_VALUE)
      refuse_video("has frames without a time: it can be read from its beginning alone");
    const AVRational rate = mean_rate();
    const std::int64_t frame_ticks = av_rescale_q(1, {rate.den, rate.num}, stream_->time_base);
    const bool overshot =
        first_after_seek_ && time >= *from_ + std::max<std::int64_t>(1, frame_ticks);
    first_after_seek_ = false;
    if (overshot) {  // some containers look for the time of decoding, before that of showing
      go_to(stream_->start_time == AV_NOPTS_VALUE ? 0 : stream_->start_time);
      return true;
    }
    if (time < *from_) return true;
    from_.reset();
    return false;
  }

  void open_container() {
    AVFormatContext* opened = made_format();
    AVDictionary* options = nullptr;
    av_dict_set(&options, "format_whitelist", kContainers, 0);
    av_dict_set(&options, "protocol_whitelist", "", 0);
    const int done = avformat_open_input(&opened, nullptr, nullptr, &options);  // frees it
    av_dict_free(&options);
    if (done < 0) {
      check_time();
      refuse_video("is no video that libav can read: " + libav_reason(done));
    }
    format_.reset(opened);
    // Before a frame is decoded to learn more; what is learnt is checked again.
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      const AVCodecParameters& claimed = *format_->streams[i]->codecpar;
      if (claimed.width > 0 && claimed.height > 0) check_pixels(claimed.width, claimed.height);
    }
    const int found = avformat_find_stream_info(format_.get(), nullptr);
    check_time();
    if (found < 0) refuse_damage(found);
  }

  AVFormatContext* made_format() {
    AVFormatContext* const format = avformat_alloc_context();
    if (format == nullptr) throw std::bad_alloc();
    format->pb = memory_.context();
    format->flags |= AVFMT_FLAG_CUSTOM_IO;
    format->io_open = open_nothing;
    format->interrupt_callback = {is_late, this};
    return format;
  }

  void open_decoder() {
    const int index = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (index < 0) refuse_video("has no video");
    stream_ = format_->streams[index];
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      if (static_cast<int>(i) != index) format_->streams[i]->discard = AVDISCARD_ALL;
    }
    check_pixels(stream_->codecpar->width, stream_->codecpar->height);
    const AVCodec* const decoder = avcodec_find_decoder(stream_->codecpar->codec_id);
    if (decoder == nullptr) refuse_video("is encoded in a way that libav cannot decode here");
    codec_ = made(avcodec_alloc_context3(decoder));
    avcodec_parameters_to_context(codec_.get(), stream_->codecpar);
    codec_->thread_count = 1;  // the workers are the threads
    codec_->max_pixels = limits_.max_pixels;
    codec_->pkt_timebase = stream_->time_base;
    const int done = avcodec_open2(codec_.get(), decoder, nullptr);
    if (done < 0) refuse_damage(done);
  }

  void check_pixels(std::int64_t width, std::int64_t height) const {
    if (width < 1 || height < 1) refuse_video("does not say how large its frames are");
    if (width <= limits_.max_pixels / height) return;
    refuse_video("has frames of " + std::to_string(width) + " x " + std::to_string(height) +
                 " pixels, over \"max_pixels\", " + std::to_string(limits_.max_pixels));
  }

  void set_facts() {
    facts_ = {stream_->codecpar->width, stream_->codecpar->height, stream_->nb_frames,
              stream_->nb_frames > 0};
    if (facts_.frames > 0) return;
    const AVRational rate = mean_rate();
    std::int64_t ticks = stream_->duration;
    AVRational base = stream_->time_base;
    if (ticks == AV_NOPTS_VALUE) {
      ticks = format_->duration;
      base = {1, AV_TIME_BASE};
    }
    // The last ones may not be there: a duration is rounded.
    constexpr std::int64_t kUncertain = 2;
    if (ticks == AV_NOPTS_VALUE || ticks <= 0) return;
    facts_.frames =
        std::max<std::int64_t>(1, av_rescale_q(ticks, base, {rate.den, rate.num}) - kUncertain);
  }

  [[nodiscard]] AVRational mean_rate() const {
    const AVRational rate = stream_->avg_frame_rate;
    constexpr int kMostRate = 1'000'000;
    if (rate.num < 1 || rate.den < 1 || rate.num / rate.den > kMostRate) return {25, 1};
    return rate;
  }

  /// The next packet of the video to the decoder, or the end.
  void send() {
    for (;;) {
      check_time();
      const int got = av_read_frame(format_.get(), packet_.get());
      if (got == AVERROR_EOF) {
        avcodec_send_packet(codec_.get(), nullptr);
        return;
      }
      if (got < 0) refuse_damage(got);
      const bool ours = packet_->stream_index == stream_->index;
      const bool corrupt = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
      const int sent = ours && !corrupt ? avcodec_send_packet(codec_.get(), packet_.get()) : 0;
      av_packet_unref(packet_.get());
      if (ours && corrupt) refuse_video("is damaged or cut off");
      if (sent < 0) refuse_damage(sent);
      if (ours) return;
    }
  }

  [[nodiscard]] static int is_late(void* user) {
    const auto& self = *static_cast<const LibavStream*>(user);
    return monotonic_seconds() > self.ends_ ? 1 : 0;
  }
  void check_time() const {
    if (monotonic_seconds() > ends_) {
      refuse_video("took longer than \"timeout_s\", " + std::to_string(limits_.seconds) +
                   " s, to decode");
    }
  }
  [[noreturn]] void refuse_damage(int code) const {
    check_time();
    refuse_video("is damaged: " + libav_reason(code));
  }

  VideoLimits limits_;
  double ends_;  ///< by monotonic_seconds()
  LibavMemory memory_;
  LibavPtr<AVFormatContext> format_;
  AVStream* stream_ = nullptr;  // format_'s
  LibavPtr<AVCodecContext> codec_;
  LibavPtr<AVPacket> packet_ = made(av_packet_alloc());
  LibavPtr<AVFrame> frame_ = made(av_frame_alloc());
  LibavPtr<SwsContext> scaler_;
  std::optional<std::int64_t> from_;  ///< time of the first frame that is wanted
  bool first_after_seek_ = false;
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::VideoStream* cachebisect_video_open(
    std::span<const std::byte> bytes, const cachebisect::stages::VideoLimits& limits) {
  static const bool quiet = cachebisect::stages::settle_libav();
  static_cast<void>(quiet);
  return std::make_unique<cachebisect::stages::LibavStream>(bytes, limits).release();
}

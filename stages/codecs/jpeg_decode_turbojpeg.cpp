#include "stages/codecs/jpeg.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jerror.h>
#include <jpeglib.h>

#include "cachebisect/base/error.hpp"

#ifndef LIBJPEG_TURBO_VERSION
#error \
    "jpeglib.h is not libjpeg-turbo's; install libjpeg-turbo or set CACHEBISECT_WITH_TURBOJPEG=OFF"
#endif

namespace cachebisect::stages {
namespace {

/// A progressive file with more scans is an attack, not a picture.
constexpr int kMaxScans = 500;
/// Columns next to a part that smooth upsampling of colour looks at.
constexpr std::uint32_t kUpsamplingMargin = 2;
/// Rows that are read at once.
constexpr JDIMENSION kRows = 8;

/// Warnings that leave every pixel correct.
bool is_harmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
         code == JWRN_TOO_MUCH_DATA;
}

/// a * b / 255, rounded, as Pillow computes it.
unsigned scale255(unsigned a, unsigned b) {
  const unsigned x = a * b + 128;
  return ((x >> 8) + x) >> 8;
}

void inverted_cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::uint32_t width) {
  for (std::uint32_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const unsigned light = cmyk[3];
    for (int c = 0; c < 3; ++c)
      rgb[c] = static_cast<std::uint8_t>(light - scale255(255U - cmyk[c], light));
  }
}

/// Up to `most` rows, as the library gives them, to rows that are `stride` bytes apart.
void read_rows(jpeg_decompress_struct& info, std::uint8_t* to, std::size_t stride,
               JDIMENSION most) {
  JSAMPROW rows[kRows];  // NOLINT(modernize-avoid-c-arrays): no destructors here
  const JDIMENSION count = most < kRows ? most : kRows;
  for (JDIMENSION i = 0; i < count; ++i) rows[i] = to + stride * i;
  jpeg_read_scanlines(&info, static_cast<JSAMPARRAY>(rows), count);
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf on_error{};
  char message[JMSG_LENGTH_MAX]{};  // NOLINT(modernize-avoid-c-arrays): the library fills it
  bool damaged = false;
  JpegPart part{};  ///< of begin_part()

  static State& of(j_common_ptr info) { return *static_cast<State*>(info->client_data); }

  // The library is C: exceptions must not pass through it, so errors use longjmp.
  [[noreturn]] static void error_exit(j_common_ptr info) {
    State& state = of(info);
    state.errors.format_message(info, static_cast<char*>(state.message));
    std::longjmp(state.on_error, 1);  // NOLINT(modernize-avoid-setjmp-longjmp)
  }

  static void emit_message(j_common_ptr info, int level) {
    State& state = of(info);
    if (level >= 0 || state.damaged || is_harmless(state.errors.msg_code)) return;
    state.damaged = true;
    state.errors.format_message(info, static_cast<char*>(state.message));
  }

  static void check_scans(j_common_ptr info) {
    const auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
    if (decompress->input_scan_number <= kMaxScans) return;
    State& state = of(info);
    std::snprintf(static_cast<char*>(state.message), JMSG_LENGTH_MAX, "over %d scans", kMaxScans);
    std::longjmp(state.on_error, 1);  // NOLINT(modernize-avoid-setjmp-longjmp)
  }

  /// Runs calls to the library; `calls` must create no objects with destructors. Throws Error(data)
  /// when a call fails or warns of damage.
  template <class Calls>
  void guarded(const Calls& calls) {
    damaged = false;
    if (setjmp(on_error) == 0) {  // NOLINT(modernize-avoid-setjmp-longjmp)
      calls(info);
      if (!damaged) return;
    }
    jpeg_abort_decompress(&info);
    throw Error(ErrorKind::data,
                "damaged or unreadable JPEG: " + std::string(static_cast<const char*>(message)));
  }
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.info.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = State::error_exit;
  state.errors.emit_message = State::emit_message;
  state.info.client_data = state_.get();
  state.guarded([](jpeg_decompress_struct& info) { jpeg_create_decompress(&info); });
  state.progress.progress_monitor = State::check_scans;
  state.info.progress = &state.progress;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

JpegSize JpegDecoder::begin(std::span<const std::byte> bytes, JpegDct dct, unsigned scale) {
  state_->guarded([bytes, dct, scale](jpeg_decompress_struct& info) {
    jpeg_abort_decompress(&info);  // after an abandoned image
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    const bool four = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = four ? JCS_CMYK : JCS_RGB;
    info.dct_method = dct == JpegDct::islow ? JDCT_ISLOW : JDCT_IFAST;
    info.scale_num = 1;
    info.scale_denom = scale;
    jpeg_calc_output_dimensions(&info);
  });
  return {state_->info.image_width, state_->info.image_height};
}

JpegSize JpegDecoder::scaled_size() const noexcept {
  return {state_->info.output_width, state_->info.output_height};
}

std::size_t JpegDecoder::scratch_bytes() const noexcept {
  const jpeg_decompress_struct& info = state_->info;
  return info.out_color_space == JCS_CMYK ? std::size_t{4} * info.output_width : 0;
}

void JpegDecoder::decode(std::span<std::uint8_t> rgb, std::span<std::uint8_t> scratch) {
  std::uint8_t* const first = rgb.data();
  std::uint8_t* const cmyk = scratch.data();
  state_->guarded([first, cmyk](jpeg_decompress_struct& info) {
    jpeg_start_decompress(&info);
    const std::size_t stride = std::size_t{3} * info.output_width;
    while (info.output_scanline < info.output_height) {
      std::uint8_t* const row = first + stride * info.output_scanline;
      if (info.out_color_space == JCS_CMYK) {
        JSAMPROW line = cmyk;
        jpeg_read_scanlines(&info, &line, 1);
        inverted_cmyk_to_rgb(cmyk, row, info.output_width);
        continue;
      }
      read_rows(info, row, stride, info.output_height - info.output_scanline);
    }
    jpeg_abort_decompress(&info);  // nothing after the last row matters
  });
}

bool JpegDecoder::can_decode_parts() const noexcept {
  return state_->info.out_color_space == JCS_RGB;
}

JpegPart JpegDecoder::begin_part(const JpegPart& part) {
  const std::uint32_t left = part.left - std::min(part.left, kUpsamplingMargin);
  const std::uint32_t right =
      std::min(state_->info.image_width, part.left + part.width + kUpsamplingMargin);
  JDIMENSION begin = left;
  JDIMENSION columns = right - left;
  JDIMENSION* const begin_at = &begin;
  JDIMENSION* const columns_at = &columns;
  state_->guarded([begin_at, columns_at](jpeg_decompress_struct& info) {
    jpeg_start_decompress(&info);
    if (*columns_at < info.output_width) jpeg_crop_scanline(&info, begin_at, columns_at);
  });
  state_->part = {part.top, begin, part.height, columns};
  return state_->part;
}

void JpegDecoder::decode_part(std::span<std::uint8_t> rgb) {
  std::uint8_t* const first = rgb.data();
  const JpegPart part = state_->part;
  state_->guarded([first, part](jpeg_decompress_struct& info) {
    if (part.top > 0) jpeg_skip_scanlines(&info, part.top);
    const std::size_t stride = std::size_t{3} * part.width;
    const JDIMENSION end = part.top + part.height;
    while (info.output_scanline < end) {
      read_rows(info, first + stride * (info.output_scanline - part.top), stride,
                end - info.output_scanline);
    }
    jpeg_abort_decompress(&info);
  });
}

}  // namespace cachebisect::stages

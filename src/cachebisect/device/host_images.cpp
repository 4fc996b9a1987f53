#include "cachebisect/device/host_images.hpp"

#include <algorithm>
#include <cstring>

#include "cachebisect/data/color_math.hpp"
#include "cachebisect/device/image_layout.hpp"

namespace cachebisect::host_images {
namespace {

/// A row of pixels, or of the values of one channel: `size` bytes each.
struct Row {
  const std::byte* pixels = nullptr;
  std::int64_t length = 0;
  std::size_t size = 0;
};

/// The part of `from` that begins at `left`, flipped if wanted; zeros beyond its ends.
void copy_part(const Row& from, std::int64_t left, bool flipped, std::byte* to,
               std::int64_t length) {
  if (flipped) {
    for (std::int64_t x = 0; x < length; ++x) {
      copy_part(from, left + length - 1 - x, false, to + static_cast<std::size_t>(x) * from.size,
                1);
    }
    return;
  }
  const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, length);
  const std::int64_t end = std::clamp<std::int64_t>(from.length - left, begin, length);
  const auto bytes = [&](std::int64_t pixels) {
    return static_cast<std::size_t>(pixels) * from.size;
  };
  std::memset(to, 0, bytes(begin));
  if (end > begin) {
    std::memcpy(to + bytes(begin), from.pixels + bytes(left + begin), bytes(end - begin));
  }
  std::memset(to + bytes(end), 0, bytes(length - end));
}

void crop_plane(const std::byte* from, std::byte* to, const ImageLayout& input,
                const ImageLayout& output, std::size_t size, const ImageWindow& window) {
  const std::size_t input_row = static_cast<std::size_t>(input.width) * size;
  const std::size_t output_row = static_cast<std::size_t>(output.width) * size;
  for (std::int64_t y = 0; y < output.height; ++y, to += output_row) {
    const std::int64_t row = window.top + (window.flip_rows ? output.height - 1 - y : y);
    if (row < 0 || row >= input.height) {
      std::memset(to, 0, output_row);
      continue;
    }
    copy_part({from + static_cast<std::size_t>(row) * input_row, input.width, size}, window.left,
              window.flip_columns, to, output.width);
  }
}

float mean_before_contrast(const std::uint8_t* image, const ImageLayout& images,
                           const ColorChanges& changes) {
  if (color_math::contrast_of(changes) == ColorChanges::kCount || images.pixels() == 0) return 0;
  const auto channels = static_cast<int>(images.channels);
  unsigned long long total = 0;
  for (std::int64_t i = 0; i < images.pixels(); ++i) {
    total +=
        color_math::grey_before_contrast(color_math::load_pixel(image + i * images.pixel_stride(),
                                                                channels, images.channel_stride()),
                                         channels, changes);
  }
  return color_math::mean_of(total, images.pixels());
}

}  // namespace

void crop(const ConstTensorView& from, const TensorView& to, std::span<const ImageWindow> windows,
          std::size_t channel_axis) {
  const ImageLayout input = image_layout(from.shape, channel_axis);
  const ImageLayout output = image_layout(to.shape, channel_axis);
  const std::int64_t planes = output.planar ? output.channels : 1;
  const std::size_t size = size_of(to.dtype) * static_cast<std::size_t>(input.pixel_stride());
  const auto plane_bytes = [&](const ImageLayout& images) {
    return static_cast<std::size_t>(images.pixels()) * size;
  };
  for (std::int64_t i = 0; i < output.images * planes; ++i) {
    const auto plane = static_cast<std::size_t>(i);
    crop_plane(from.data + plane * plane_bytes(input), to.data + plane * plane_bytes(output), input,
               output, size, windows[static_cast<std::size_t>(i / planes)]);
  }
}

void adjust_color(const ConstTensorView& from, const TensorView& to,
                  std::span<const ColorChanges> changes, std::size_t channel_axis) {
  const ImageLayout images = image_layout(from.shape, channel_axis);
  const auto channels = static_cast<int>(images.channels);
  const auto* source = reinterpret_cast<const std::uint8_t*>(from.data);
  auto* target = reinterpret_cast<std::uint8_t*>(to.data);
  for (const ColorChanges& own : changes) {
    const float mean = mean_before_contrast(source, images, own);
    for (std::int64_t i = 0; i < images.pixels(); ++i) {
      const std::int64_t at = i * images.pixel_stride();
      const color_math::Pixel pixel = color_math::changed(
          color_math::load_pixel(source + at, channels, images.channel_stride()), channels, own,
          mean);
      for (int c = 0; c < channels; ++c) target[at + c * images.channel_stride()] = pixel.values[c];
    }
    source += images.pixels() * channels;
    target += images.pixels() * channels;
  }
}

}  // namespace cachebisect::host_images

#include "cachebisect/device/host_ops.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/affine_layout.hpp"
#include "cachebisect/device/host_elements.hpp"
#include "cachebisect/device/host_images.hpp"
#include "cachebisect/device/op_checks.hpp"

namespace cachebisect {
namespace {

using host_elements::convert;
using host_elements::convert_all;
using host_elements::elements;
using host_elements::with_float_type;
using host_elements::with_type;

/// Scale and bias of channel c, with one value for all channels or one per channel.
class ChannelValues {
 public:
  explicit ChannelValues(std::span<const float> values) : values_(values) {}
  float operator[](std::size_t channel) const { return values_[values_.size() == 1 ? 0 : channel]; }

 private:
  std::span<const float> values_;
};

/// Runs of one channel each: [outer][channel][inner], inner > 1.
template <class From, class To>
void affine_planes(const From* from, To* to, std::size_t outer, std::size_t channels,
                   std::size_t inner, const ChannelValues& scale, const ChannelValues& bias) {
  constexpr std::size_t kChunk = 512;
  std::array<float, kChunk> chunk;
  for (std::size_t plane = 0; plane < outer * channels; ++plane) {
    const float a = scale[plane % channels];
    const float b = bias[plane % channels];
    for (std::size_t begin = 0; begin < inner; begin += kChunk) {
      const std::size_t count = std::min(kChunk, inner - begin);
      const std::size_t at = plane * inner + begin;
      for (std::size_t i = 0; i < count; ++i) chunk[i] = convert<float>(from[at + i]) * a + b;
      convert_all(chunk.data(), to + at, count);
    }
  }
}

/// Channels last: [outer][channel].
template <class From, class To>
void affine_pixels(const From* from, To* to, std::size_t outer, std::size_t channels,
                   const ChannelValues& scale, const ChannelValues& bias) {
  for (std::size_t c = 0; c < channels; ++c) {
    const float a = scale[c];
    const float b = bias[c];
    for (std::size_t i = 0; i < outer; ++i) {
      const std::size_t at = i * channels + c;
      to[at] = convert<To>(convert<float>(from[at]) * a + b);
    }
  }
}

class HostOps final : public DeviceOps {
 public:
  void cast(const ConstTensorView& from, const TensorView& to, Stream& /*stream*/) override {
    op_checks::cast(from, to);
    const auto count = static_cast<std::size_t>(from.shape.elements());
    if (count == 0) return;
    if (from.dtype == to.dtype) {
      std::memcpy(to.data, from.data, from.byte_size());
      return;
    }
    with_type(from.dtype, [&]<class From>(std::type_identity<From>) {
      with_type(to.dtype, [&]<class To>(std::type_identity<To>) {
        if constexpr (!std::same_as<From, To>) {
          convert_all(elements<From>(from), elements<To>(to), count);
        }
      });
    });
  }

  void affine(const ConstTensorView& from, const TensorView& to, std::span<const float> scale,
              std::span<const float> bias, std::size_t channel_axis, Stream& /*stream*/) override {
    op_checks::affine(from, to, scale, bias, channel_axis);
    const AffineLayout layout = affine_layout(from.shape.dims(), channel_axis, scale, bias);
    const auto outer = static_cast<std::size_t>(layout.outer);
    const auto channels = static_cast<std::size_t>(layout.channels);
    const auto inner = static_cast<std::size_t>(layout.inner);
    if (outer * channels * inner == 0) return;
    const ChannelValues a(scale);
    const ChannelValues b(bias);
    with_type(from.dtype, [&]<class From>(std::type_identity<From>) {
      with_float_type(to.dtype, [&]<class To>(std::type_identity<To>) {
        const From* source = elements<From>(from);
        To* target = elements<To>(to);
        if (inner > 1) {
          affine_planes(source, target, outer, channels, inner, a, b);
        } else {
          affine_pixels(source, target, outer, channels, a, b);
        }
      });
    });
  }

  void one_hot(const ConstTensorView& labels, const TensorView& to, float on, float off,
               Stream& /*stream*/) override {
    op_checks::one_hot(labels, to);
    const std::int64_t classes = to.shape[1];
    with_type(labels.dtype, [&]<class Label>(std::type_identity<Label>) {
      with_float_type(to.dtype, [&]<class To>(std::type_identity<To>) {
        To* row = elements<To>(to);
        for (std::int64_t n = 0; n < labels.shape[0]; ++n, row += classes) {
          const auto label = convert<std::int64_t>(elements<Label>(labels)[n]);
          if (label < 0 || label >= classes) {
            throw Error(ErrorKind::data, "label " + std::to_string(label) + " of row " +
                                             std::to_string(n) + " is outside [0, " +
                                             std::to_string(classes) + ")");
          }
          std::fill(row, row + classes, convert<To>(off));
          row[label] = convert<To>(on);
        }
      });
    });
  }

  void unpack_bits(const ConstTensorView& from, const TensorView& to, Stream& /*stream*/) override {
    op_checks::unpack_bits(from, to);
    const auto* source = elements<std::uint8_t>(from);
    auto* target = elements<std::uint8_t>(to);
    const auto count = static_cast<std::size_t>(from.shape.elements());
    for (std::size_t i = 0; i < count; ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        target[8 * i + bit] = static_cast<std::uint8_t>((source[i] >> (7 - bit)) & 1);
      }
    }
  }

  void unpack_nonzeros(const ConstTensorView& from, const TensorView& to,
                       Stream& /*stream*/) override {
    op_checks::unpack_nonzeros(from, to);
    const std::size_t element = size_of(to.dtype);
    std::memset(to.data, 0, to.byte_size());
    if (to.shape[0] == 0) return;
    const auto rows = static_cast<std::size_t>(to.shape[0]);
    const std::size_t row_bytes = to.byte_size() / rows;
    const auto most = static_cast<std::size_t>(from.shape[1]) / (sizeof(std::int32_t) + element);
    for (std::size_t n = 0; n < rows; ++n) {
      const std::byte* const row = from.data + n * static_cast<std::size_t>(from.shape[1]);
      const std::byte* const values = row + most * sizeof(std::int32_t);
      for (std::size_t k = 0; k < most; ++k) {
        std::int32_t position = 0;
        std::memcpy(&position, row + k * sizeof position, sizeof position);
        const auto at = static_cast<std::size_t>(position) * element;
        if (position < 0 || at >= row_bytes) continue;
        std::memcpy(to.data + n * row_bytes + at, values + k * element, element);
      }
    }
  }

  void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes,
           Stream& /*stream*/) override {
    op_checks::pad(from, to, shapes);
    std::memset(to.data, 0, to.byte_size());
    if (shapes.empty()) return;
    const std::size_t row_bytes = to.byte_size() / shapes.size();
    TensorView place{to.data, to.dtype, {}, dense_strides(Shape(to.shape.dims().subspan(1)))};
    const std::byte* sample = from.data;
    for (const Shape& shape : shapes) {
      place.shape = shape;
      const ConstTensorView values = dense_view(sample, from.dtype, shape);
      copy_tensor(values, place);
      sample += values.byte_size();
      place.data += row_bytes;
    }
  }

  void transpose(const ConstTensorView& from, const TensorView& to,
                 std::span<const std::size_t> axes, Stream& /*stream*/) override {
    op_checks::transpose(from, to, axes);
    ConstTensorView permuted = from;
    permuted.shape = to.shape;
    for (std::size_t i = 0; i < axes.size(); ++i) permuted.strides[i] = from.strides[axes[i]];
    copy_tensor(permuted, to);
  }

  void crop(const ConstTensorView& from, const TensorView& to, std::span<const ImageWindow> windows,
            std::size_t channel_axis, Stream& /*stream*/) override {
    op_checks::crop(from, to, windows.size(), channel_axis);
    host_images::crop(from, to, windows, channel_axis);
  }

  void adjust_color(const ConstTensorView& from, const TensorView& to,
                    std::span<const ColorChanges> changes, std::size_t channel_axis,
                    std::byte* /*sums*/, Stream& /*stream*/) override {
    op_checks::adjust_color(from, to, changes.size(), channel_axis);
    host_images::adjust_color(from, to, changes, channel_axis);
  }
};

}  // namespace

std::unique_ptr<DeviceOps> make_host_ops() { return std::make_unique<HostOps>(); }

}  // namespace cachebisect

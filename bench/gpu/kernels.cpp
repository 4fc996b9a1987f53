#include "bench/gpu/kernels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "cachebisect/device/device_ops.hpp"

namespace cachebisect::bench {
namespace {

constexpr std::array<float, 3> kScale{0.017F, 0.0175F, 0.0174F};
constexpr std::array<float, 3> kBias{-2.1F, -2.0F, -1.8F};
constexpr std::array<std::size_t, 4> kToPlanes{0, 3, 1, 2};

class Kernels {
 public:
  Kernels(Device& device, int passes)
      : device_(&device),
        passes_(passes),
        stream_(device.make_stream()),
        before_(device.make_event()),
        after_(device.make_event()),
        from_(device.device_memory()),
        to_(device.device_memory()) {}

  using Operation =
      std::function<void(DeviceOps& ops, const ConstTensorView&, const TensorView&, Stream&)>;

  KernelFigure time(const std::string& name, DType from, const Shape& from_shape, DType to,
                    const Shape& to_shape, const Operation& operation) {
    const TensorView input = view(from_, from, from_shape);
    const TensorView output = view(to_, to, to_shape);
    std::vector<double> seconds;
    for (int pass = -1; pass < passes_; ++pass) {  // the first one is a warm-up
      device_->record(*before_, *stream_);
      operation(device_->ops(), input, output, *stream_);
      device_->record(*after_, *stream_);
      device_->synchronize(*after_);
      const double taken =
          device_->completion_seconds(*after_) - device_->completion_seconds(*before_);
      if (pass >= 0) seconds.push_back(taken);
    }
    std::nth_element(seconds.begin(), seconds.begin() + passes_ / 2, seconds.end());
    const double median = seconds[static_cast<std::size_t>(passes_ / 2)];
    const auto bytes = static_cast<double>(input.byte_size() + output.byte_size());
    return {name, 1e6 * median, median > 0 ? bytes / median / 1e9 : 0};
  }

 private:
  static TensorView view(Buffer& buffer, DType dtype, const Shape& shape) {
    return dense_view(buffer.reserve(static_cast<std::size_t>(shape.elements()) * size_of(dtype)),
                      dtype, shape);
  }

  Device* device_;
  int passes_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Event> before_;
  std::unique_ptr<Event> after_;
  Buffer from_;
  Buffer to_;
};

void cast(DeviceOps& ops, const ConstTensorView& from, const TensorView& to, Stream& stream) {
  ops.cast(from, to, stream);
}

Kernels::Operation affine(std::size_t channel_axis) {
  return [=](DeviceOps& ops, const ConstTensorView& from, const TensorView& to, Stream& stream) {
    ops.affine(from, to, kScale, kBias, channel_axis, stream);
  };
}

/// Crops of the same size, half of them turned.
void shift_and_flip(DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                    Stream& stream) {
  std::array<ImageWindow, kMaxImagesAtOnce> windows;
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i] = {4, -4, false, i % 2 == 0};
  ops.crop(from, to, {windows.data(), static_cast<std::size_t>(to.shape[0])}, 1, stream);
}

Buffer sums_of(Device& device) {
  Buffer sums(device.device_memory());
  sums.reserve(kMaxImagesAtOnce * sizeof(std::uint64_t));
  return sums;
}

void jitter(DeviceOps& ops, const ConstTensorView& from, const TensorView& to, std::byte* sums,
            Stream& stream) {
  using enum ColorOp;
  std::array<ColorChanges, kMaxImagesAtOnce> changes;
  changes.fill({{brightness, contrast, saturation, hue}, {1.1F, 0.9F, 1.2F, 0.1F}});
  ops.adjust_color(from, to, {changes.data(), static_cast<std::size_t>(to.shape[0])}, 1, sums,
                   stream);
}

/// Images of half the height of a batch, which are half of its bytes.
Kernels::Operation pad_halves(std::int64_t samples) {
  const std::vector<Shape> shapes(static_cast<std::size_t>(samples), Shape{3, 112, 224});
  return [shapes](DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                  Stream& stream) { ops.pad(from, to, shapes, stream); };
}

}  // namespace

std::vector<KernelFigure> kernel_figures(Device& device, std::int64_t samples, int passes) {
  Kernels kernels(device, passes);
  const Shape planes{samples, 3, 224, 224};
  const Shape pixels{samples, 224, 224, 3};
  using enum DType;
  std::vector<KernelFigure> figures{
      kernels.time("copy", float32, planes, float32, planes, cast),
      kernels.time("to_float", uint8, planes, float32, planes, cast),
      kernels.time("to_bfloat16", float32, planes, bfloat16, planes, cast),
      kernels.time("normalize_nchw", uint8, planes, float32, planes, affine(1)),
      kernels.time("normalize_nhwc", uint8, pixels, float32, pixels, affine(3)),
      kernels.time("nhwc_to_nchw", float32, pixels, float32, planes,
                   [](DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                      Stream& stream) { ops.transpose(from, to, kToPlanes, stream); }),
      kernels.time("unpack_bits", uint8, {samples, 18816}, uint8, {samples, 150528},
                   [](DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                      Stream& stream) { ops.unpack_bits(from, to, stream); }),
      kernels.time("unpack_nonzeros", uint8, {samples, 24000}, DType::float32, {samples, 150528},
                   [](DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                      Stream& stream) { ops.unpack_nonzeros(from, to, stream); }),
      kernels.time("pad", uint8, {samples, 75264}, uint8, planes, pad_halves(samples))};
  const Shape some{std::min<std::int64_t>(samples, kMaxImagesAtOnce), 3, 224, 224};
  figures.push_back(kernels.time("crop", uint8, some, uint8, some, shift_and_flip));
  const Buffer sums = sums_of(device);
  figures.push_back(
      kernels.time("adjust_color", uint8, some, uint8, some,
                   [&](DeviceOps& ops, const ConstTensorView& from, const TensorView& to,
                       Stream& stream) { jitter(ops, from, to, sums.data(), stream); }));
  return figures;
}

}  // namespace cachebisect::bench

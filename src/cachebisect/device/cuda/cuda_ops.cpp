#include "cachebisect/device/cuda/cuda_ops.hpp"

#include <algorithm>

#include "cachebisect/device/affine_layout.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"
#include "cachebisect/device/cuda/cuda_handles.hpp"
#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/image_layout.hpp"
#include "cachebisect/device/op_checks.hpp"

namespace cachebisect::cuda {
namespace {

constexpr std::size_t kMostPadded = kernels::PaddedSamples::kMost;

/// Sets the samples of one operation, the first of which begins at value `begin`. Returns the end.
std::int64_t set_samples(kernels::PaddedSamples& samples, std::span<const Shape> shapes,
                         std::int64_t begin) {
  samples.count = static_cast<std::int64_t>(shapes.size());
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    samples.begins[n] = begin;
    std::ranges::copy(shapes[n].dims(), samples.sizes[n]);
    begin += shapes[n].elements();
  }
  return begin;
}

class CudaOps final : public DeviceOps {
 public:
  explicit CudaOps(int ordinal) : ordinal_(ordinal) {}

  void cast(const ConstTensorView& from, const TensorView& to, Stream& stream) override {
    op_checks::cast(from, to);
    if (from.byte_size() == 0) return;
    use_device(ordinal_);
    if (from.dtype == to.dtype) {
      check(cudaMemcpyAsync(to.data, from.data, from.byte_size(), cudaMemcpyDefault,
                            stream_of(stream)),
            "cudaMemcpyAsync");
      return;
    }
    check(kernels::cast(from.data, from.dtype, to.data, to.dtype, from.shape.elements(),
                        stream_of(stream)),
          "launch of the cast kernel");
  }

  void affine(const ConstTensorView& from, const TensorView& to, std::span<const float> scale,
              std::span<const float> bias, std::size_t channel_axis, Stream& stream) override {
    op_checks::affine(from, to, scale, bias, channel_axis);
    if (from.byte_size() == 0) return;
    use_device(ordinal_);
    const AffineLayout layout = affine_layout(from.shape.dims(), channel_axis, scale, bias);
    check(
        kernels::affine(from.data, from.dtype, to.data, to.dtype,
                        {layout.outer, layout.channels, layout.inner}, {scale.data(), scale.size()},
                        {bias.data(), bias.size()}, stream_of(stream)),
        "launch of the affine kernel");
  }

  void one_hot(const ConstTensorView& labels, const TensorView& to, float on, float off,
               Stream& stream) override {
    op_checks::one_hot(labels, to);
    if (to.byte_size() == 0) return;
    use_device(ordinal_);
    check(kernels::one_hot(labels.data, labels.dtype, to.data, to.dtype, to.shape[0], to.shape[1],
                           on, off, stream_of(stream)),
          "launch of the one_hot kernel");
  }

  void unpack_bits(const ConstTensorView& from, const TensorView& to, Stream& stream) override {
    op_checks::unpack_bits(from, to);
    if (from.byte_size() == 0) return;
    use_device(ordinal_);
    check(kernels::unpack_bits(from.data, to.data, from.shape.elements(), stream_of(stream)),
          "launch of the unpack_bits kernel");
  }

  void unpack_nonzeros(const ConstTensorView& from, const TensorView& to, Stream& stream) override {
    op_checks::unpack_nonzeros(from, to);
    if (to.byte_size() == 0) return;
    use_device(ordinal_);
    check(
        kernels::unpack_nonzeros(from.data, to.data, size_of(to.dtype), to.shape[0], from.shape[1],
                                 to.shape.elements() / to.shape[0], stream_of(stream)),
        "launch of the unpack_nonzeros kernel");
  }

  void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes,
           Stream& stream) override {
    op_checks::pad(from, to, shapes);
    if (to.byte_size() == 0) return;
    use_device(ordinal_);
    const std::size_t row_bytes = to.byte_size() / shapes.size();
    static_assert(kernels::PaddedSamples::kMaxAxes + 1 == Shape::kMaxRank);
    kernels::PaddedSamples samples;
    samples.axes = static_cast<int>(to.shape.rank()) - 1;
    std::ranges::copy(to.shape.dims().subspan(1), samples.shape);
    std::byte* target = to.data;
    std::int64_t begin = 0;
    while (!shapes.empty()) {
      const auto part = shapes.first(std::min(shapes.size(), kMostPadded));
      begin = set_samples(samples, part, begin);
      check(kernels::pad(from.data, target, size_of(to.dtype), samples, stream_of(stream)),
            "launch of the pad kernel");
      target += part.size() * row_bytes;
      shapes = shapes.subspan(part.size());
    }
  }

  void transpose(const ConstTensorView& from, const TensorView& to,
                 std::span<const std::size_t> axes, Stream& stream) override {
    op_checks::transpose(from, to, axes);
    if (from.byte_size() == 0) return;
    use_device(ordinal_);
    static_assert(kernels::Gather::kMaxRank == Shape::kMaxRank);
    const Strides strides = dense_strides(from.shape);
    kernels::Gather gather;
    gather.rank = static_cast<int>(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      gather.shape[i] = to.shape[i];
      gather.strides[i] = strides[axes[i]];
    }
    check(kernels::transpose(from.data, to.data, size_of(from.dtype), gather, from.shape.elements(),
                             stream_of(stream)),
          "launch of the transpose kernel");
  }

  void crop(const ConstTensorView& from, const TensorView& to, std::span<const ImageWindow> windows,
            std::size_t channel_axis, Stream& stream) override {
    op_checks::crop(from, to, windows.size(), channel_axis);
    if (to.byte_size() == 0) return;
    use_device(ordinal_);
    check(kernels::crop(from.data, to.data, size_of(from.dtype),
                        image_layout(from.shape, channel_axis),
                        image_layout(to.shape, channel_axis), windows.data(), stream_of(stream)),
          "launch of the crop kernel");
  }

  void adjust_color(const ConstTensorView& from, const TensorView& to,
                    std::span<const ColorChanges> changes, std::size_t channel_axis,
                    std::byte* sums, Stream& stream) override {
    op_checks::adjust_color(from, to, changes.size(), channel_axis);
    if (to.byte_size() == 0) return;
    use_device(ordinal_);
    check(kernels::adjust_color(from.data, to.data, image_layout(from.shape, channel_axis),
                                changes.data(), sums, stream_of(stream)),
          "launch of the adjust_color kernels");
  }

 private:
  int ordinal_;
};

}  // namespace

std::unique_ptr<DeviceOps> make_ops(int ordinal) { return std::make_unique<CudaOps>(ordinal); }

}  // namespace cachebisect::cuda

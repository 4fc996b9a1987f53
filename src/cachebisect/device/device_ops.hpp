// The tensor operations that every device offers, so that device stages need no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/image_changes.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect {

class Stream;

/// All operations enqueue on `stream` and return; views are dense memory of the device. On the
/// emulated device they take no time and access no memory. Shapes and dtypes that do not fit throw
/// Error(internal) on every device.
class CACHEBISECT_API DeviceOps {
 public:
  virtual ~DeviceOps();
  /// Element-wise conversion as in PyTorch: float to integer truncates (and saturates; NaN gives
  /// 0), integers keep their lower bits, float16/bfloat16 round to nearest even from float32.
  virtual void cast(const ConstTensorView& from, const TensorView& to, Stream& stream) = 0;
  /// to = (from as float32) * scale[c] + bias[c], c along `channel_axis`; any dtype to float32,
  /// float16 or bfloat16. `scale` and `bias` have one entry per channel, or one for all.
  virtual void affine(const ConstTensorView& from, const TensorView& to,
                      std::span<const float> scale, std::span<const float> bias,
                      std::size_t channel_axis, Stream& stream) = 0;
  /// labels [N] of an integer dtype -> to [N, classes] of a float dtype up to 32 bits: `on` at the
  /// label, `off` elsewhere. A label outside [0, classes) throws Error(data) on the cpu; on CUDA
  /// its row is all `off`.
  virtual void one_hot(const ConstTensorView& labels, const TensorView& to, float on, float off,
                       Stream& stream) = 0;
  /// Bits, most significant first, of uint8 [N, B] -> uint8 0/1 [N, 8 B].
  virtual void unpack_bits(const ConstTensorView& from, const TensorView& to, Stream& stream) = 0;
  /// uint8 [N, M (4 + E)] -> any dtype of E bytes, N rows of V values: zeros, but for the values of
  /// row n at its positions. A row of `from` has M int32 positions in [0, V), less than 0 for none,
  /// and then M values. Of equal positions any may count.
  virtual void unpack_nonzeros(const ConstTensorView& from, const TensorView& to,
                               Stream& stream) = 0;
  /// N samples of shapes `shapes`, whose values lie end to end at the start of `from` -> [N, ...]
  /// of the same dtype: each at the start of every axis, zeros elsewhere.
  virtual void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes,
                   Stream& stream) = 0;
  /// Axis i of `to` is axis `axes[i]` of `from`.
  virtual void transpose(const ConstTensorView& from, const TensorView& to,
                         std::span<const std::size_t> axes, Stream& stream) = 0;
  /// Images of any dtype [N, H, W, C], or [N, C, H, W] if `channel_axis` is 1, to images of another
  /// height and width: image n of `to` is what windows[n] shows of image n of `from`. N is at most
  /// kMaxImagesAtOnce.
  virtual void crop(const ConstTensorView& from, const TensorView& to,
                    std::span<const ImageWindow> windows, std::size_t channel_axis,
                    Stream& stream) = 0;
  /// Images of uint8 with 1 or 3 channels, as for crop(); image n by changes[n]. `sums`: 8 bytes of
  /// the device's memory per image, aligned to 8, in use until the operation is done.
  virtual void adjust_color(const ConstTensorView& from, const TensorView& to,
                            std::span<const ColorChanges> changes, std::size_t channel_axis,
                            std::byte* sums, Stream& stream) = 0;
};

}  // namespace cachebisect

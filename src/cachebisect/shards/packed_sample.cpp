#include "cachebisect/shards/packed_sample.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "cachebisect/shards/shard_file.hpp"

namespace cachebisect::shards {
namespace {

static_assert(std::endian::native == std::endian::little);

using Dim = std::uint32_t;

/// The size of a field without dynamic dimensions. Empty if it is more than a record may have.
/// Dimensions of 0 count as 1 for that: the product of some dimensions must not overflow either.
std::optional<std::size_t> bytes_of(DType dtype, const Shape& shape) {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t dim : shape.dims()) {
    const auto factor = static_cast<std::size_t>(std::max<std::int64_t>(dim, 1));
    if (__builtin_mul_overflow(bytes, factor, &bytes) || bytes > kMostRecordBytes) {
      return std::nullopt;
    }
  }
  return std::ranges::find(shape.dims(), 0) == shape.dims().end() ? bytes : 0;
}

std::optional<std::size_t> static_bytes(const SampleSpec& spec) {
  std::size_t bytes = 0;
  for (const FieldSpec& field : spec) {
    const auto more = field.shape.is_static() ? bytes_of(field.dtype, field.shape) : std::nullopt;
    if (!more) return std::nullopt;
    bytes += *more;
  }
  return bytes;
}

bool matches(const Field& field, const FieldSpec& spec) {
  if (field.dtype() != spec.dtype || field.shape().rank() != spec.shape.rank()) return false;
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis) {
    if (spec.shape[axis] != kDynamic && spec.shape[axis] != field.shape()[axis]) return false;
  }
  return true;
}

void put_dims(const Shape& shape, const FieldSpec& spec, std::vector<std::byte>& out) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (spec.shape[axis] != kDynamic) continue;
    if (!std::in_range<std::int32_t>(shape[axis])) {
      throw Error(ErrorKind::data, "the field '" + spec.name + "' has the shape " +
                                       shape.to_string() + ", too large for a shard");
    }
    const auto dim = static_cast<Dim>(shape[axis]);
    const std::size_t begin = out.size();
    out.resize(begin + sizeof(Dim));
    std::memcpy(out.data() + begin, &dim, sizeof(Dim));
  }
}

/// Takes the dynamic dimensions of `shape` from the front of `bytes`.
bool take_dims(std::span<const std::byte>& bytes, Shape& shape) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != kDynamic) continue;
    if (bytes.size() < sizeof(Dim)) return false;
    Dim dim = 0;
    std::memcpy(&dim, bytes.data(), sizeof(Dim));
    if (!std::in_range<std::int32_t>(dim)) return false;
    shape[axis] = dim;
    bytes = bytes.subspan(sizeof(Dim));
  }
  return true;
}

}  // namespace

PackedSample::PackedSample(SampleSpec spec) : spec_(std::move(spec)), bytes_(static_bytes(spec_)) {}

void PackedSample::pack(const Sample& sample, std::vector<std::byte>& out) const {
  out.clear();
  for (const FieldSpec& spec : spec_) {
    const Field* const field = sample.find(spec.name);
    if (field == nullptr || !matches(*field, spec)) {
      throw Error(ErrorKind::internal, "the field '" + spec.name + "' is not " +
                                           std::string(to_string(spec.dtype)) + " " +
                                           spec.shape.to_string() + ", as the chain says");
    }
    put_dims(field->shape(), spec, out);
  }
  for (const FieldSpec& spec : spec_) {
    const Field& field = sample.field(spec.name);
    const std::size_t begin = out.size();
    out.resize(begin + field.byte_size());
    copy_tensor(field.view(), dense_view(out.data() + begin, field.dtype(), field.shape()));
  }
}

bool PackedSample::unpack(std::span<const std::byte> bytes, Sample& out) const {
  std::span<const std::byte> dims = bytes;
  for (const FieldSpec& spec : spec_) {
    Shape shape = spec.shape;
    if (!take_dims(dims, shape)) return false;
  }
  std::span<const std::byte> elements = std::exchange(dims, bytes);
  for (const FieldSpec& spec : spec_) {
    Shape shape = spec.shape;
    static_cast<void>(take_dims(dims, shape));
    const auto size = bytes_of(spec.dtype, shape);
    if (!size || *size > elements.size()) return false;
    const TensorView view = out.field(spec.name).resize(spec.dtype, shape);
    if (*size > 0) std::memcpy(view.data, elements.data(), *size);
    elements = elements.subspan(*size);
  }
  return elements.empty();
}

}  // namespace cachebisect::shards

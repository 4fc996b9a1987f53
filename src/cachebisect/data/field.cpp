#include "cachebisect/data/field.hpp"

#include <cstring>
#include <functional>

namespace cachebisect {

void Field::require_dense(DType dtype) const {
  if (view_.dtype != dtype) {
    throw Error(ErrorKind::internal, "a field of " + std::string(to_string(view_.dtype)) +
                                         " was read as " + std::string(to_string(dtype)));
  }
  if (!view_.is_dense())
    throw Error(ErrorKind::internal, "a strided field was read as a dense one");
}

std::int64_t Field::as_integer() const {
  if (view_.data != nullptr && view_.shape.elements() > 0) {
    switch (view_.dtype) {
      case DType::int64: {
        std::int64_t value = 0;
        std::memcpy(&value, view_.data, sizeof value);
        return value;
      }
      case DType::int32: {
        std::int32_t value = 0;
        std::memcpy(&value, view_.data, sizeof value);
        return value;
      }
      case DType::uint8:
        return static_cast<std::int64_t>(view_.data[0]);
      default:
        break;
    }
  }
  throw Error(ErrorKind::internal, "a field that is no integer was read as one");
}

TensorView Field::own(DType dtype, const Shape& shape) {
  const auto bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  view_ = dense_view(storage_.reserve(bytes == 0 ? 1 : bytes), dtype, shape);
  return view_;
}

TensorView Field::resize(DType dtype, const Shape& shape) {
  if (attached_.data != nullptr && attached_.dtype == dtype && attached_.shape == shape &&
      attached_.is_dense()) {
    view_ = attached_;
    return view_;
  }
  return own(dtype, shape);
}

TensorView Field::resize_strided(DType dtype, const Shape& shape) {
  if (attached_.data != nullptr && attached_.dtype == dtype && attached_.shape == shape) {
    view_ = attached_;
    return view_;
  }
  return own(dtype, shape);
}

void Field::assign(std::span<const std::byte> bytes) {
  const TensorView to = resize(DType::uint8, Shape{static_cast<std::int64_t>(bytes.size())});
  if (!bytes.empty()) std::memcpy(to.data, bytes.data(), bytes.size());
}

void Field::assign(std::string_view bytes) {
  assign(std::as_bytes(std::span<const char>(bytes.data(), bytes.size())));
}

void Field::copy_from(const Field& other) {
  copy_tensor(other.view(), own(other.dtype(), other.shape()));
}

void Field::share(const Field& other) noexcept { view_ = other.view_; }

void Field::keep() {
  const std::less<> before;
  const std::byte* const own_begin = storage_.data();
  const bool is_kept =
      !before(view_.data, own_begin) && before(view_.data, own_begin + storage_.capacity());
  if (is_kept) return;
  const ConstTensorView seen = view_;
  copy_tensor(seen, own(seen.dtype, seen.shape));
}

void Field::attach(const TensorView& destination) noexcept { attached_ = destination; }

}  // namespace cachebisect

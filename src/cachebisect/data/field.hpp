// A field of a sample: dtype, shape and bytes that it owns, borrows or writes into a batch slot.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect {

/// What is known of a field before any sample is read; dimensions may be kDynamic.
struct FieldSpec {
  std::string name;
  DType dtype = DType::uint8;
  Shape shape;
  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

/// A stage writes its output by calling resize() (dense) or resize_strided() and filling the
/// result. Storage is reused from sample to sample and grows to a high-water mark. Not thread safe.
class CACHEBISECT_API Field {
 public:
  Field() = default;
  Field(Field&&) noexcept = default;
  Field& operator=(Field&&) noexcept = default;

  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] const Shape& shape() const noexcept { return view_.shape; }
  [[nodiscard]] const std::byte* data() const noexcept { return view_.data; }
  [[nodiscard]] ConstTensorView view() const noexcept { return view_; }
  /// Bytes of the elements (dense size).
  [[nodiscard]] std::size_t byte_size() const noexcept { return view_.byte_size(); }

  /// The elements of a dense field. Throws Error(internal) if the dtype differs or it is strided.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    require_dense(dtype_of<T>);
    return {reinterpret_cast<const T*>(view_.data),
            static_cast<std::size_t>(view_.shape.elements())};
  }
  /// The first element as a number (labels). Throws Error(internal) on an empty or non-integer
  /// field.
  [[nodiscard]] std::int64_t as_integer() const;

  /// Makes this a dense tensor to be filled: the attached destination if it is dense and of this
  /// dtype and shape, else own storage.
  TensorView resize(DType dtype, const Shape& shape);
  /// As resize(), for stages that can write any strides: accepts a strided destination too.
  TensorView resize_strided(DType dtype, const Shape& shape);
  /// A dense resize() for elements of type T.
  template <class T>
  std::span<T> resize_as(const Shape& shape) {
    const TensorView view = resize(dtype_of<T>, shape);
    return {reinterpret_cast<T*>(view.data), static_cast<std::size_t>(shape.elements())};
  }
  /// Own uint8 bytes, shape [n].
  void assign(std::span<const std::byte> bytes);
  void assign(std::string_view bytes);
  /// A scalar of type T.
  template <class T>
  void set(T value) {
    resize_as<T>(Shape{})[0] = value;
  }
  /// Own dense copy of `other`.
  void copy_from(const Field& other);
  /// Becomes a view of the memory of `other`, which must outlive it; copies no bytes.
  void share(const Field& other) noexcept;
  /// Becomes a view of `memory`, which must outlive it.
  void share(const TensorView& memory) noexcept { view_ = memory; }
  /// Ends a view: copies the bytes into own storage unless they are there already.
  void keep();
  /// Offers a destination (a row of a batch slot), which resize() uses if dtype and shape match.
  void attach(const TensorView& destination) noexcept;
  void detach() noexcept { attached_ = TensorView{}; }
  /// Bytes of own storage.
  [[nodiscard]] std::size_t capacity() const noexcept { return storage_.capacity(); }

 private:
  void require_dense(DType dtype) const;
  TensorView own(DType dtype, const Shape& shape);

  TensorView view_;
  TensorView attached_;
  Buffer storage_;
};

}  // namespace cachebisect

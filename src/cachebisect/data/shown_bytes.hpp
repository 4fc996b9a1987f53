// Bytes that a source or a stage shows to the next stage where they lie, without a copy.
#pragma once

#include <cstddef>

#include "cachebisect/data/field.hpp"

namespace cachebisect {

/// Makes `field` a view of the uint8 values at `bytes`, which must outlive the sample.
inline void show_bytes(Field& field, const std::byte* bytes, const Shape& shape) {
  // A field that is a view is read only to stages, so nothing writes these bytes.
  field.share(dense_view(const_cast<std::byte*>(bytes), DType::uint8, shape));
}

}  // namespace cachebisect

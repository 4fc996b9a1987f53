#include "stages/modules/hdf5_types.hpp"

#include <array>
#include <cstddef>

namespace cachebisect::stages {
namespace {

/// Bits of a floating point number, from the lowest.
struct FloatLayout {
  StoredType type;
  std::size_t bytes;
  std::size_t exponent_at;
  std::size_t exponent_bits;
  std::size_t bias;
};

constexpr std::array<FloatLayout, 4> kFloats{{{StoredType::float16, 2, 10, 5, 15},
                                              {StoredType::bfloat16, 2, 7, 8, 127},
                                              {StoredType::float32, 4, 23, 8, 127},
                                              {StoredType::float64, 8, 52, 11, 1023}}};

std::optional<StoredType> float_type(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0)
    return std::nullopt;
  for (const FloatLayout& layout : kFloats) {
    if (H5Tget_size(type) == layout.bytes && sign == 8 * layout.bytes - 1 &&
        exponent == layout.exponent_at && exponent_bits == layout.exponent_bits && mantissa == 0 &&
        mantissa_bits == layout.exponent_at && H5Tget_ebias(type) == layout.bias)
      return layout.type;
  }
  return std::nullopt;
}

std::optional<StoredType> integer_type(hid_t type) {
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  if (H5Tget_precision(type) != 8 * H5Tget_size(type)) return std::nullopt;
  switch (H5Tget_size(type)) {
    case 1:
      return is_signed ? StoredType::int8 : StoredType::uint8;
    case 2:
      return is_signed ? StoredType::int16 : StoredType::uint16;
    case 4:
      return is_signed ? StoredType::int32 : StoredType::uint32;
    case 8:
      return is_signed ? StoredType::int64 : StoredType::uint64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<StoredType> stored_type_of_hdf5(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_type(type);
    case H5T_FLOAT:
      return float_type(type);
    case H5T_ENUM:  // as h5py stores booleans
      if (H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2) return StoredType::boolean;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace cachebisect::stages

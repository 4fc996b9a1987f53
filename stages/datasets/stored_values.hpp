// Values of arrays: how they are stored, and what they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/dtype.hpp"

namespace cachebisect::stages {

/// Element types of files that are numbers.
enum class StoredType {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  boolean  ///< one byte, 0: false
};

[[nodiscard]] constexpr std::size_t stored_bytes(StoredType type) noexcept {
  switch (type) {
    case StoredType::int8:
    case StoredType::uint8:
    case StoredType::boolean:
      return 1;
    case StoredType::int16:
    case StoredType::uint16:
    case StoredType::float16:
    case StoredType::bfloat16:
      return 2;
    case StoredType::int32:
    case StoredType::uint32:
    case StoredType::float32:
      return 4;
    default:
      return 8;
  }
}

/// What an array's attributes say of its values, by the conventions of NetCDF and CF.
struct PackingAttributes {
  std::optional<double> scale;         ///< scale_factor
  std::optional<double> offset;        ///< add_offset
  std::optional<double> fill;          ///< _FillValue
  std::optional<double> default_fill;  ///< where nothing was written, without _FillValue
  std::vector<double> missing;         ///< missing_value
  bool is_unsigned = false;            ///< _Unsigned: the bits are of the unsigned type
};

/// Turns stored elements into values.
class CACHEBISECT_INTERNAL_API StoredValues {
 public:
  /// Without `unpack` the values are the stored numbers.
  StoredValues(StoredType stored, const PackingAttributes& attributes, bool unpack);

  /// Packed numbers become float32, or float64 if they are stored in more than 2 bytes and not as
  /// float32. Others keep their type; int16 becomes int32, uint32 int64. Empty for uint64.
  [[nodiscard]] std::optional<DType> dtype() const noexcept;
  /// Whether the stored bytes are the values.
  [[nodiscard]] bool are_stored() const noexcept;
  /// Writes values of dtype() to `out`: NaN for missing ones if that is a floating point type and
  /// they are unpacked. `out` may be `stored` where the sizes are equal.
  void convert(std::span<const std::byte> stored, std::byte* out) const;

 private:
  StoredType stored_;
  double scale_ = 1;
  double offset_ = 0;
  bool packed_ = false;
  std::vector<double> missing_;
};

}  // namespace cachebisect::stages

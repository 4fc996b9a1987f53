#include "stages/datasets/stored_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cachebisect/data/half.hpp"

namespace cachebisect::stages {
namespace {

struct HalfValue {
  std::uint16_t bits = 0;
  HalfValue() = default;
  explicit HalfValue(double value) : bits(float_to_half(static_cast<float>(value))) {}
  explicit operator double() const { return half_to_float(bits); }
};

struct BrainValue {
  std::uint16_t bits = 0;
  BrainValue() = default;
  explicit BrainValue(double value) : bits(float_to_bfloat16(static_cast<float>(value))) {}
  explicit operator double() const { return bfloat16_to_float(bits); }
};

struct FlagValue {
  std::uint8_t bits = 0;
  explicit operator double() const { return bits == 0 ? 0.0 : 1.0; }
};

StoredType unsigned_of(StoredType type) noexcept {
  switch (type) {
    case StoredType::int8:
      return StoredType::uint8;
    case StoredType::int16:
      return StoredType::uint16;
    case StoredType::int32:
      return StoredType::uint32;
    case StoredType::int64:
      return StoredType::uint64;
    default:
      return type;
  }
}

bool is_real(StoredType type) noexcept {
  return type == StoredType::float16 || type == StoredType::bfloat16 ||
         type == StoredType::float32 || type == StoredType::float64;
}

/// Calls visit(T{}) with the stored type.
template <class Visit>
void visit_stored(StoredType type, const Visit& visit) {
  switch (type) {
    case StoredType::int8:
      return visit(std::int8_t{});
    case StoredType::uint8:
      return visit(std::uint8_t{});
    case StoredType::int16:
      return visit(std::int16_t{});
    case StoredType::uint16:
      return visit(std::uint16_t{});
    case StoredType::int32:
      return visit(std::int32_t{});
    case StoredType::uint32:
      return visit(std::uint32_t{});
    case StoredType::int64:
      return visit(std::int64_t{});
    case StoredType::uint64:
      return visit(std::uint64_t{});
    case StoredType::float16:
      return visit(HalfValue{});
    case StoredType::bfloat16:
      return visit(BrainValue{});
    case StoredType::float32:
      return visit(float{});
    case StoredType::float64:
      return visit(double{});
    case StoredType::boolean:
      return visit(FlagValue{});
  }
}

template <class From, class To, class Value>
void for_each_value(std::span<const std::byte> stored, std::byte* out, const Value& value) {
  const std::size_t count = stored.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From from{};
    std::memcpy(&from, stored.data() + i * sizeof from, sizeof from);
    const To to = value(from);
    std::memcpy(out + i * sizeof to, &to, sizeof to);
  }
}

}  // namespace

StoredValues::StoredValues(StoredType stored, const PackingAttributes& attributes, bool unpack)
    : stored_(attributes.is_unsigned ? unsigned_of(stored) : stored) {
  if (!unpack) return;
  packed_ = attributes.scale || attributes.offset;
  scale_ = attributes.scale.value_or(1);
  offset_ = attributes.offset.value_or(0);
  missing_ = attributes.missing;
  if (attributes.fill) {
    missing_.push_back(*attributes.fill);
  } else if (attributes.default_fill && stored_bytes(stored) > 1) {
    missing_.push_back(*attributes.default_fill);  // of one byte, all are values
  }
  if (stored_ != stored) {
    const double wrap = std::ldexp(1.0, static_cast<int>(8 * stored_bytes(stored)));
    for (double& value : missing_) value += value < 0 ? wrap : 0;
  }
}

std::optional<DType> StoredValues::dtype() const noexcept {
  if (packed_) {
    const bool narrow = stored_ == StoredType::float32 || stored_bytes(stored_) <= 2;
    return narrow ? DType::float32 : DType::float64;
  }
  switch (stored_) {
    case StoredType::int8:
      return DType::int8;
    case StoredType::uint8:
      return DType::uint8;
    case StoredType::uint16:
      return DType::uint16;
    case StoredType::int16:
    case StoredType::int32:
      return DType::int32;
    case StoredType::uint32:
    case StoredType::int64:
      return DType::int64;
    case StoredType::float16:
      return DType::float16;
    case StoredType::bfloat16:
      return DType::bfloat16;
    case StoredType::float32:
      return DType::float32;
    case StoredType::float64:
      return DType::float64;
    case StoredType::boolean:
      return DType::boolean;
    case StoredType::uint64:
      break;
  }
  return std::nullopt;
}

bool StoredValues::are_stored() const noexcept {
  const bool changed = stored_ == StoredType::int16 || stored_ == StoredType::uint32 ||
                       stored_ == StoredType::boolean;
  const bool masked = is_real(stored_) && !missing_.empty();
  return !packed_ && !changed && !masked;
}

void StoredValues::convert(std::span<const std::byte> stored, std::byte* out) const {
  const auto is_missing = [this](double value) {
    return std::ranges::find(missing_, value) != missing_.end();
  };
  const auto real = [&](auto from) {
    const auto value = static_cast<double>(from);
    return is_missing(value) ? std::numeric_limits<double>::quiet_NaN() : value * scale_ + offset_;
  };
  visit_stored(stored_, [&](auto example) {
    using From = decltype(example);
    constexpr bool kIsHalf = std::is_same_v<From, HalfValue> || std::is_same_v<From, BrainValue>;
    constexpr bool kIsReal = kIsHalf || std::is_floating_point_v<From>;
    using Wide = std::conditional_t<std::is_same_v<From, std::int16_t>, std::int32_t, std::int64_t>;
    if (packed_) {
      if (dtype() == DType::float64) return for_each_value<From, double>(stored, out, real);
      return for_each_value<From, float>(stored, out,
                                         [&](From v) { return static_cast<float>(real(v)); });
    }
    if constexpr (kIsReal) {
      return for_each_value<From, From>(stored, out,
                                        [&](From v) { return static_cast<From>(real(v)); });
    }
    if constexpr (std::is_same_v<From, std::int16_t> || std::is_same_v<From, std::uint32_t>) {
      return for_each_value<From, Wide>(stored, out, [](From v) { return static_cast<Wide>(v); });
    }
    if constexpr (std::is_same_v<From, FlagValue>) {
      return for_each_value<From, FlagValue>(stored, out, [](From v) {
        return FlagValue{v.bits == 0 ? std::uint8_t{0} : std::uint8_t{1}};
      });
    }
    if (out != stored.data()) std::memcpy(out, stored.data(), stored.size());
  });
}

}  // namespace cachebisect::stages

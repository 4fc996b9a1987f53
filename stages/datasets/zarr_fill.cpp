#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stages/datasets/zarr_metadata.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/names.hpp"
#include "cachebisect/data/half.hpp"

namespace cachebisect::stages {
namespace {

template <class T>
std::vector<std::byte> bytes_of_number(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

[[noreturn]] void refuse_fill(const ZarrJson& json, DType dtype) {
  json.refuse("is " + quote(json.value().dump()) + ", no " + std::string(to_string(dtype)));
}

template <class Int>
std::vector<std::byte> whole_fill(const ZarrJson& json, DType dtype) {
  const nlohmann::json& value = json.value();
  if (value.is_number_unsigned() && std::in_range<Int>(value.get<std::uint64_t>()))
    return bytes_of_number(static_cast<Int>(value.get<std::uint64_t>()));
  if (value.is_number_integer() && !value.is_number_unsigned() &&
      std::in_range<Int>(value.get<std::int64_t>()))
    return bytes_of_number(static_cast<Int>(value.get<std::int64_t>()));
  refuse_fill(json, dtype);
}

/// "0x7fc00000": the bits of the element.
std::optional<std::uint64_t> bits_of(std::string_view text, std::size_t bytes) {
  if (!text.starts_with("0x") || text.size() != 2 + 2 * bytes) return std::nullopt;
  std::uint64_t bits = 0;
  for (const char c : text.substr(2)) {
    const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    if (digit == std::string_view::npos || (digit > 9 && c < 'A')) return std::nullopt;
    bits = bits << 4U | digit;
  }
  return bits;
}

std::optional<double> named_number(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  return std::nullopt;
}

std::vector<std::byte> float_fill(const ZarrJson& json, DType dtype) {
  const nlohmann::json& value = json.value();
  std::optional<double> number;
  if (value.is_number()) number = value.get<double>();
  if (value.is_string()) {
    number = named_number(json.text());
    if (const auto bits = bits_of(json.text(), size_of(dtype))) {
      if (dtype == DType::float16) return bytes_of_number(static_cast<std::uint16_t>(*bits));
      if (dtype == DType::float32) return bytes_of_number(static_cast<std::uint32_t>(*bits));
      return bytes_of_number(*bits);
    }
  }
  if (!number) refuse_fill(json, dtype);
  if (dtype == DType::float16) return bytes_of_number(float_to_half(static_cast<float>(*number)));
  if (dtype == DType::float32) return bytes_of_number(static_cast<float>(*number));
  return bytes_of_number(*number);
}

}  // namespace

std::vector<std::byte> parse_zarr_fill(const ZarrJson& value, DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return whole_fill<std::uint8_t>(value, dtype);
    case DType::int8:
      return whole_fill<std::int8_t>(value, dtype);
    case DType::uint16:
      return whole_fill<std::uint16_t>(value, dtype);
    case DType::int32:
      return whole_fill<std::int32_t>(value, dtype);
    case DType::int64:
      return whole_fill<std::int64_t>(value, dtype);
    case DType::boolean:
      if (value.value() == 0 || value.value() == 1) return whole_fill<std::uint8_t>(value, dtype);
      if (!value.value().is_boolean()) refuse_fill(value, dtype);
      return bytes_of_number(static_cast<std::uint8_t>(value.value().get<bool>() ? 1 : 0));
    default:
      return float_fill(value, dtype);
  }
}

}  // namespace cachebisect::stages

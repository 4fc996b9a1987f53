#include "cachebisect/data/dtype.hpp"

namespace cachebisect {

std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::uint8:
    case DType::int8:
    case DType::boolean:
      return 1;
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::int32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::float64:
      return 8;
  }
  return 0;
}

std::string_view to_string(DType dtype) noexcept {
  switch (dtype) {
    case DType::uint8:
      return "uint8";
    case DType::int8:
      return "int8";
    case DType::uint16:
      return "uint16";
    case DType::int32:
      return "int32";
    case DType::int64:
      return "int64";
    case DType::float16:
      return "float16";
    case DType::bfloat16:
      return "bfloat16";
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

}  // namespace cachebisect

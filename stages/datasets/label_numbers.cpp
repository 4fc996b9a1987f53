#include "stages/datasets/label_numbers.hpp"

#include <cstring>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

template <class T>
void append_as(std::span<const std::byte> bytes, std::vector<std::int64_t>& out) {
  for (; bytes.size() >= sizeof(T); bytes = bytes.subspan(sizeof(T))) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    out.push_back(value);
  }
}

[[noreturn]] void refuse_labels(const std::string& what) { throw Error(ErrorKind::usage, what); }

}  // namespace

bool is_label_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int32:
    case DType::int64:
    case DType::boolean:
      return true;
    default:
      return false;
  }
}

void append_labels(DType dtype, std::span<const std::byte> bytes, std::vector<std::int64_t>& out) {
  switch (dtype) {
    case DType::int8:
      return append_as<std::int8_t>(bytes, out);
    case DType::uint16:
      return append_as<std::uint16_t>(bytes, out);
    case DType::int32:
      return append_as<std::int32_t>(bytes, out);
    case DType::int64:
      return append_as<std::int64_t>(bytes, out);
    default:
      return append_as<std::uint8_t>(bytes, out);
  }
}

std::uint64_t check_labels(DType dtype, const Shape& shape, std::uint64_t per_item,
                           std::uint64_t samples) {
  if (!is_label_type(dtype)) {
    refuse_labels("has elements of " + std::string(to_string(dtype)) +
                  "; labels are whole numbers");
  }
  const auto count = static_cast<std::uint64_t>(shape[0]);
  if (shape.rank() != 1 || (count != per_item && count != samples)) {
    refuse_labels(
        "has the shape " + shape.to_string() + "; labels are a list of " + format_count(samples) +
        ", one for each sample" +
        (per_item == samples ? "" : ", or of " + format_count(per_item) + ", one for each item"));
  }
  const double bytes = static_cast<double>(count) * sizeof(std::int64_t);
  const double available = available_memory().available_bytes;
  if (available > 0 && bytes > available) {
    refuse_labels("needs " + format_bytes(bytes) + " of memory, and " + format_bytes(available) +
                  " are available");
  }
  return count;
}

}  // namespace cachebisect::stages

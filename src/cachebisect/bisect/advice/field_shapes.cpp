#include "cachebisect/bisect/advice/field_shapes.hpp"

#include <algorithm>
#include <array>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {

std::vector<FieldText> field_texts(std::string_view fields) {
  std::vector<FieldText> all;
  while (!fields.empty()) {
    const std::size_t begin = fields.find(" [");
    const std::size_t end = fields.find(']');
    const std::size_t name = fields.find(' ');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin ||
        name >= begin) {
      break;
    }
    all.push_back({fields.substr(0, name), fields.substr(name + 1, begin - name - 1),
                   fields.substr(begin + 2, end - begin - 2)});
    fields.remove_prefix(std::min(fields.size(), end + std::string_view("], ").size()));
  }
  return all;
}

std::string_view shape_text(std::string_view fields, std::string_view name) {
  const std::vector<FieldText> all = field_texts(fields);
  const auto found = std::ranges::find(all, name, &FieldText::name);
  return found == all.end() ? std::string_view{} : found->dims;
}

std::optional<std::int64_t> take_side(std::string_view& dims) {
  const std::size_t comma = dims.find(", ");
  const auto side = parse_number<std::int64_t>(dims.substr(0, comma));
  dims.remove_prefix(comma == std::string_view::npos ? dims.size() : comma + 2);
  return side;
}

std::optional<std::vector<std::int64_t>> dims_of(std::string_view text) {
  std::vector<std::int64_t> dims;
  while (!text.empty()) {
    const auto side = take_side(text);
    if (!side) return std::nullopt;
    dims.push_back(*side);
  }
  return dims;
}

double type_bytes(std::string_view dtype) {
  struct Type {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array kTypes{Type{"uint8", 1},  Type{"int8", 1},    Type{"bool", 1},
                                     Type{"uint16", 2}, Type{"float16", 2}, Type{"bfloat16", 2},
                                     Type{"int32", 4},  Type{"float32", 4}, Type{"int64", 8},
                                     Type{"float64", 8}};
  const auto* const found = std::ranges::find(kTypes, dtype, &Type::name);
  return found == kTypes.end() ? 0 : found->bytes;
}

std::optional<double> bytes_of(const FieldText& field) {
  const auto dims = dims_of(field.dims);
  double bytes = type_bytes(field.dtype);
  if (!dims || bytes == 0) return std::nullopt;
  for (const std::int64_t side : *dims) bytes *= static_cast<double>(side);
  return bytes;
}

bool keeps_its_order(std::vector<std::int64_t>& dims, bool planar) {
  if (!planar || dims.size() != 3) return true;
  if (dims.back() != 1) return false;
  std::rotate(dims.begin(), dims.end() - 1, dims.end());
  return true;
}

}  // namespace cachebisect

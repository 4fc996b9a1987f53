#include "cachebisect/bisect/advice/field_shapes.hpp"

#include <algorithm>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {

std::string_view shape_text(std::string_view fields, const std::string& name) {
  while (!fields.empty()) {
    const std::size_t begin = fields.find('[');
    const std::size_t end = fields.find(']');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    if (fields.starts_with(name + " ")) return fields.substr(begin + 1, end - begin - 1);
    fields.remove_prefix(std::min(fields.size(), end + std::string_view("], ").size()));
  }
  return {};
}

std::optional<std::int64_t> take_side(std::string_view& dims) {
  const std::size_t comma = dims.find(", ");
  const auto side = parse_number<std::int64_t>(dims.substr(0, comma));
  dims.remove_prefix(comma == std::string_view::npos ? dims.size() : comma + 2);
  return side;
}

}  // namespace cachebisect

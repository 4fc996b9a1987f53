#include "cachebisect/bisect/advice/field_shapes.hpp"

#include <algorithm>

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

}  // namespace cachebisect

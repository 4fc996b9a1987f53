#include "cachebisect/http/answer_head.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  const std::size_t end = text.find_last_not_of(kSpaces);
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

}  // namespace

std::optional<std::uint64_t> size_in_content_range(std::string_view value) {
  const std::size_t slash = value.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint64_t>(value.substr(slash + 1));
}

bool begins_at(std::string_view value, std::uint64_t begin) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return false;
  const auto first = split_number<std::uint64_t>(value.substr(kUnit.size()));
  return first && first->value == begin && first->rest.starts_with('-');
}

std::optional<std::string_view> header_value(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return std::nullopt;
  const bool same = std::ranges::equal(line.substr(0, name.size()), name, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
  if (!same) return std::nullopt;
  return without_spaces(line.substr(name.size() + 1));
}

}  // namespace cachebisect

#include "cachebisect/http/answer_head.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  const std::size_t end = text.find_last_not_of(kSpaces);
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

/// What stands between <NAME> and </NAME>; empty if nothing does.
std::string_view element(std::string_view body, const std::string& name) {
  const std::string open = "<" + name + ">";
  const std::size_t begin = body.find(open);
  if (begin == std::string_view::npos) return "";
  body.remove_prefix(begin + open.size());
  const std::size_t end = body.find("</" + name + ">");
  return end == std::string_view::npos ? "" : body.substr(0, end);
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

std::string refusal_text(long status, std::string_view body) {
  std::string text = "HTTP status " + std::to_string(status);
  const std::string_view code = element(body, "Code");
  if (code.empty()) return text;
  const std::string_view message = element(body, "Message");
  text += " (" + printable(std::string(code));
  if (!message.empty()) text += ": " + printable(std::string(message));
  return text + ")";
}

}  // namespace cachebisect

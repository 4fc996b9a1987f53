#include "stages/datasets/label_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

/// Walks over the members of one object.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text) noexcept : rest_(text) {}

  std::optional<std::int64_t> number_under(std::string_view key) noexcept {
    std::optional<std::int64_t> found;
    if (!take('{')) return std::nullopt;
    if (take('}')) return std::nullopt;
    do {
      const auto name = take_string();
      if (!name || !take(':')) return std::nullopt;
      const auto value = take_value();
      if (!value) return std::nullopt;
      if (*name == key) found = whole_number(*value);
    } while (take(','));
    return take('}') && rest_.find_first_not_of(kSpace) == std::string_view::npos ? found
                                                                                  : std::nullopt;
  }

 private:
  bool take(char c) noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// What is between quotes, with its escapes.
  std::optional<std::string_view> take_string() noexcept {
    if (!take('"')) return std::nullopt;
    const std::string_view from = rest_;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == '"') {
        rest_.remove_prefix(i + 1);
        return from.substr(0, i);
      }
      if (from[i] == '\\') ++i;
    }
    return std::nullopt;
  }

  /// Up to the comma or bracket that ends it; nothing is stacked, however deep it is nested.
  std::optional<std::string_view> take_value() noexcept {
    const std::string_view from = rest_;
    std::size_t depth = 0;
    while (!rest_.empty()) {
      const char c = rest_.front();
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) return from.substr(0, from.size() - rest_.size());
      if (c == '"') {
        if (!take_string()) return std::nullopt;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (closes) --depth;
      rest_.remove_prefix(1);
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) noexcept {
  return parse_number<std::int64_t>(trimmed(text));
}

std::optional<std::int64_t> json_number(std::string_view text, std::string_view key) noexcept {
  return JsonScan(text).number_under(key);
}

}  // namespace cachebisect::stages

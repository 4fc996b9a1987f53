#include "cachebisect/emulator/byte_range.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

/// Digits alone; a number that is too large is the largest one, which is behind every object.
std::optional<std::uint64_t> position(std::string_view text) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return parse_number<std::uint64_t>(text).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

ByteRange parse_range(std::string_view header, std::uint64_t size) noexcept {
  using Kind = ByteRange::Kind;
  const ByteRange whole{.kind = Kind::whole, .begin = 0, .bytes = size};
  const ByteRange outside{.kind = Kind::outside, .begin = 0, .bytes = 0};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = position(header.substr(0, dash));
  const auto last = position(header.substr(dash + 1));
  if (!first) {
    if (dash != 0 || !last) return whole;
    if (*last == 0 || size == 0) return outside;
    const std::uint64_t bytes = std::min(*last, size);
    return {.kind = Kind::part, .begin = size - bytes, .bytes = bytes};
  }
  if (!last && dash + 1 != header.size()) return whole;
  if (last && *last < *first) return whole;
  if (*first >= size) return outside;
  const std::uint64_t end = last ? std::min(*last, size - 1) + 1 : size;
  return {.kind = Kind::part, .begin = *first, .bytes = end - *first};
}

}  // namespace cachebisect

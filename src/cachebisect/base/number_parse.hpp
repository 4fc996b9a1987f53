// Numbers from text, in the same notation whatever the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace cachebisect {

/// A number at the start of a text, and the text after it.
template <class Number>
struct LeadingNumber {
  Number value;
  std::string_view rest;
};

/// 512 and "MB" of "512MB". Empty if the text does not start with a number, or if the number does
/// not fit the type or is not finite. Neither spaces nor a plus sign may stand before it.
template <class Number>
[[nodiscard]] std::optional<LeadingNumber<Number>> split_number(std::string_view text) noexcept {
  const char* const last = text.data() + text.size();
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{}) return std::nullopt;
  if constexpr (std::floating_point<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return LeadingNumber<Number>{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

/// The number that is the whole text, as of split_number().
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) noexcept {
  const auto number = split_number<Number>(text);
  if (!number || !number->rest.empty()) return std::nullopt;
  return number->value;
}

}  // namespace cachebisect

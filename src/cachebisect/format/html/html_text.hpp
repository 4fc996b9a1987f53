// HTML that nothing is injected into: text becomes Html by being escaped, and in no other way.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect::html {

/// Characters of one text or attribute that the page shows; the raw JSON has the rest.
inline constexpr std::size_t kMaxCharacters = 600;
/// The same of a name that stands among others.
inline constexpr std::size_t kMaxNameCharacters = 60;

/// A piece of HTML.
class CACHEBISECT_INTERNAL_API Html {
 public:
  Html() = default;
  /// Markup that holds nothing from outside.
  [[nodiscard]] static Html ours(std::string source) { return Html(std::move(source)); }

  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] bool empty() const noexcept { return source_.empty(); }
  Html& operator+=(const Html& other) {
    source_ += other.source_;
    return *this;
  }
  friend Html operator+(Html a, const Html& b) { return std::move(a += b); }

 private:
  explicit Html(std::string source) : source_(std::move(source)) {}
  std::string source_;
};

/// The first `characters` of a text, and "..." if there are more. Well-formed UTF-8 stays so.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shortened(std::string_view text,
                                                             std::size_t characters);

/// One line as printable() returns it, shortened, with markup escaped.
[[nodiscard]] CACHEBISECT_INTERNAL_API Html text(std::string_view text,
                                                 std::size_t characters = kMaxCharacters);

/// Name and value; the value is treated as text() is.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// `<tag name="value">content</tag>`.
[[nodiscard]] CACHEBISECT_INTERNAL_API Html element(std::string_view tag, Attributes attributes,
                                                    const Html& content = {});
[[nodiscard]] CACHEBISECT_INTERNAL_API Html element(std::string_view tag, const Html& content);
/// With text as its content.
[[nodiscard]] CACHEBISECT_INTERNAL_API Html element(std::string_view tag, std::string_view content);

/// JSON for a script element: ASCII, with `<`, `>` and `&` as \u003c, \u003e and \u0026, so that
/// nothing in it ends the element.
[[nodiscard]] CACHEBISECT_INTERNAL_API Html json_text(const nlohmann::ordered_json& json);

}  // namespace cachebisect::html

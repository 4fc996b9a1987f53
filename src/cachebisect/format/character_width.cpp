#include "cachebisect/format/character_width.hpp"

#include <clocale>
#include <cwchar>

namespace cachebisect {
namespace {

/// Makes wcwidth() know Unicode in this thread, while it lives.
class UnicodeCharacters {
 public:
  UnicodeCharacters() : previous_(known() == nullptr ? nullptr : uselocale(known())) {}
  ~UnicodeCharacters() {
    if (previous_ != nullptr) uselocale(previous_);
  }
  UnicodeCharacters(const UnicodeCharacters&) = delete;
  UnicodeCharacters& operator=(const UnicodeCharacters&) = delete;

  [[nodiscard]] bool available() const noexcept { return previous_ != nullptr; }

 private:
  static locale_t known() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t previous_;
};

/// The code point of a well-formed character of two or more bytes.
wchar_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  unsigned long point = lead & (0x7fU >> character.size());
  for (const char c : character.substr(1)) {
    point = point << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return static_cast<wchar_t>(point);
}

}  // namespace

std::size_t character_columns(std::string_view character) noexcept {
  if (character.size() < 2) return 1;
  const UnicodeCharacters unicode;
  if (!unicode.available()) return 1;
  const int columns = wcwidth(code_point(character));
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

}  // namespace cachebisect

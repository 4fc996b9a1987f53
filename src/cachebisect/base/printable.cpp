#include "cachebisect/base/printable.hpp"

#include "cachebisect/base/utf8.hpp"

namespace cachebisect {
namespace {

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
}

/// Whether a well-formed character is a control character.
bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  return lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text, 0);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (character == "\n") {
      out += "\\n";
    } else if (length == 0 || is_control(character)) {
      append_hex(out, character);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace cachebisect

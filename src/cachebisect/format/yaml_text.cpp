#include "cachebisect/format/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxInline = 8;  ///< numbers of a list on one line
/// Readers look for the colon after a key within 1,024 characters (YAML 1.1, 7.4).
constexpr std::size_t kMaxPlainKey = 256;
/// What YAML 1.1 reads as a truth value or null.
constexpr std::array<std::string_view, 9> kReserved{"y",   "n",    "yes",   "no",  "on",
                                                    "off", "true", "false", "null"};

/// Characters that JSON allows in a text and YAML does not, or reads as a line break. All of them
/// are written with two or three bytes.
bool needs_escape(std::uint32_t point) {
  return (point >= 0x7F && point <= 0x9F) || point == 0x2028 || point == 0x2029 ||
         point == 0xFEFF || point == 0xFFFE || point == 0xFFFF;
}

/// Length in bytes and value of the character that begins at `text`, which is well-formed UTF-8;
/// the value of those of four bytes does not matter.
std::pair<std::size_t, std::uint32_t> character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {1, byte(0)};
  if (byte(0) < 0xE0) return {2, (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU)};
  if (byte(0) < 0xF0) {
    return {3, (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU)};
  }
  return {4, 0};
}

/// As JSON, whose escapes are those of YAML as well.
std::string quoted(const std::string& text) {
  const std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (std::size_t i = 0; i < json.size();) {
    const auto [length, point] = character_at(std::string_view(json).substr(i));
    if (needs_escape(point)) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", point);
      out += escape.data();
    } else {
      out += json.substr(i, length);
    }
    i += length;
  }
  return out;
}

/// A float in YAML 1.1 has a point, also with an exponent.
std::string number_text(const Json& value) {
  std::string text = value.dump();
  const std::size_t exponent = text.find('e');
  if (value.is_number_float() && exponent != std::string::npos &&
      text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

std::string scalar(const Json& value) {
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  return value.is_number() ? number_text(value) : value.dump();
}

bool is_word(const std::string& key) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !key.empty() && key.size() <= kMaxPlainKey && is_letter(key.front()) &&
         std::ranges::all_of(key, is_inner) &&
         std::ranges::find(kReserved, std::string_view(key)) == kReserved.end();
}

bool fits_inline(const Json& value) {
  return value.is_array() && value.size() <= kMaxInline &&
         std::ranges::all_of(value, [](const Json& item) { return item.is_number(); });
}

std::string inline_list(const Json& list) {
  std::string text = "[";
  for (const Json& item : list) text += (text.size() > 1 ? ", " : "") + number_text(item);
  return text + "]";
}

/// Written on the line of its key or dash.
bool is_flat(const Json& value) {
  return !value.is_structured() || value.empty() || fits_inline(value);
}

std::string flat(const Json& value) {
  if (!value.is_structured()) return scalar(value);
  return value.is_array() ? inline_list(value) : "{}";
}

void write(const Json& value, std::size_t indent, std::string& out);

/// After a key's colon or an explicit key.
void write_after_colon(const Json& value, std::size_t indent, std::string& out) {
  if (is_flat(value)) {
    out += ' ' + flat(value) + '\n';
    return;
  }
  out += '\n';
  write(value, indent + 2, out);
}

void write_member(const std::string& key, const Json& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (key.size() > kMaxPlainKey) {
    out += margin + "? " + quoted(key) + '\n' + margin + ':';
  } else {
    out += margin + (is_word(key) ? key : quoted(key)) + ':';
  }
  write_after_colon(value, indent, out);
}

/// The first line of a nested value stands behind the dash.
void write_item(const Json& value, std::size_t indent, std::string& out) {
  out += std::string(indent, ' ') + "- ";
  if (is_flat(value)) {
    out += flat(value) + '\n';
    return;
  }
  const std::size_t begin = out.size();
  write(value, indent + 2, out);
  out.erase(begin, indent + 2);
}

void write(const Json& value, std::size_t indent, std::string& out) {
  if (is_flat(value)) {
    out += std::string(indent, ' ') + flat(value) + '\n';
  } else if (value.is_array()) {
    for (const Json& item : value) write_item(item, indent, out);
  } else {
    for (const auto& [key, member] : value.items()) write_member(key, member, indent, out);
  }
}

}  // namespace

std::string to_yaml(const nlohmann::ordered_json& value) {
  std::string out;
  write(value, 0, out);
  return out;
}

}  // namespace cachebisect

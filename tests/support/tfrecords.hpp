// Builds TFRecord files byte by byte, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/format/crc32c.hpp"

namespace cachebisect::test {

inline std::string little_endian_text(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

inline std::string masked_crc(const std::string& text) {
  const std::uint32_t sum = crc32c(text);
  return little_endian_text((sum >> 15U | sum << 17U) + 0xa282ead8U, 4);
}

/// The head of a record that claims so many bytes.
inline std::string tf_head(std::uint64_t bytes) {
  const std::string length = little_endian_text(bytes, 8);
  return length + masked_crc(length);
}

inline std::string tf_record(const std::string& data) {
  return tf_head(data.size()) + data + masked_crc(data);
}

inline std::string varint_text(std::uint64_t value) {
  std::string text;
  for (; value > 0x7fU; value >>= 7U) text += static_cast<char>((value & 0x7fU) | 0x80U);
  return text + static_cast<char>(value);
}

/// A field of bytes.
inline std::string tf_field(std::uint64_t number, const std::string& content) {
  return varint_text(number << 3U | 2U) + varint_text(content.size()) + content;
}

inline std::string tf_bytes(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += tf_field(1, value);
  return tf_field(1, list);
}

inline std::string tf_integers(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint_text(static_cast<std::uint64_t>(value));
  return tf_field(3, tf_field(1, packed));
}

inline std::string tf_entry(const std::string& key, const std::string& feature) {
  return tf_field(1, tf_field(1, key) + tf_field(2, feature));
}

inline std::string tf_example(const std::vector<std::string>& entries) {
  std::string features;
  for (const std::string& entry : entries) features += entry;
  return tf_field(1, features);
}

inline std::string tf_image_example(const std::string& image, std::int64_t label) {
  return tf_example({tf_entry("image/encoded", tf_bytes({image})),
                     tf_entry("image/class/label", tf_integers({label}))});
}

}  // namespace cachebisect::test

// Messages of Protocol Buffers, written field by field
// (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cachebisect {

/// The bytes of a number, the lowest first, whatever the machine's own order.
template <std::unsigned_integral Number>
[[nodiscard]] std::string little_endian(Number value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

/// The fields of one message in the order in which they are added.
class ProtobufMessage {
 public:
  ProtobufMessage& add_integer(unsigned field, std::uint64_t value);  ///< int64, enum
  ProtobufMessage& add_double(unsigned field, double value);
  ProtobufMessage& add_float(unsigned field, float value);
  ProtobufMessage& add_bytes(unsigned field, std::string_view value);  ///< bytes, string
  ProtobufMessage& add_message(unsigned field, const ProtobufMessage& value);
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void add_varint(std::uint64_t value);
  void add_key(unsigned field, unsigned wire_type);

  std::string bytes_;
};

}  // namespace cachebisect

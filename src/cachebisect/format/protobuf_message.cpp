#include "cachebisect/format/protobuf_message.hpp"

#include <bit>

namespace cachebisect {
namespace {

// Wire types.
constexpr unsigned kVarint = 0;
constexpr unsigned kEightBytes = 1;
constexpr unsigned kWithLength = 2;
constexpr unsigned kFourBytes = 5;

}  // namespace

ProtobufMessage& ProtobufMessage::add_integer(unsigned field, std::uint64_t value) {
  add_key(field, kVarint);
  add_varint(value);
  return *this;
}

ProtobufMessage& ProtobufMessage::add_double(unsigned field, double value) {
  add_key(field, kEightBytes);
  bytes_ += little_endian(std::bit_cast<std::uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_float(unsigned field, float value) {
  add_key(field, kFourBytes);
  bytes_ += little_endian(std::bit_cast<std::uint32_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_bytes(unsigned field, std::string_view value) {
  add_key(field, kWithLength);
  add_varint(value.size());
  bytes_ += value;
  return *this;
}

ProtobufMessage& ProtobufMessage::add_message(unsigned field, const ProtobufMessage& value) {
  return add_bytes(field, value.bytes());
}

void ProtobufMessage::add_varint(std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7U) {
    bytes_ += static_cast<char>(static_cast<unsigned char>(value | kMore));
  }
  bytes_ += static_cast<char>(value);
}

void ProtobufMessage::add_key(unsigned field, unsigned wire_type) {
  add_varint(field << 3U | wire_type);
}

}  // namespace cachebisect

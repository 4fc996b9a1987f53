#include "stages/datasets/labelled_value.hpp"

#include <algorithm>

#include "stages/codecs/byte_scan.hpp"

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect::stages {
namespace {

/// Passes over what stands around the two values; false for another operation.
bool skip_operation(ByteScan& scan, std::uint64_t operation) {
  switch (operation) {
    case 0x80:  // PROTO
    case 'q':   // BINPUT
      return scan.number(1), true;
    case 0x95:  // FRAME
      return scan.number(8), true;
    case 'r':  // LONG_BINPUT
      return scan.number(4), true;
    case 0x94:  // MEMOIZE
    case ']':   // EMPTY_LIST
    case '(':   // MARK
    case 'e':   // APPENDS
    case 0x86:  // TUPLE2
      return true;
    default:
      return false;
  }
}

/// The bytes that the operation pushes.
std::optional<std::span<const std::byte>> pushed_bytes(ByteScan& scan, std::uint64_t operation) {
  if (operation == 'C') return scan.take(scan.number(1));   // SHORT_BINBYTES
  if (operation == 'B') return scan.take(scan.number(4));   // BINBYTES
  if (operation == 0x8e) return scan.take(scan.number(8));  // BINBYTES8
  return std::nullopt;
}

std::optional<std::int64_t> pushed_integer(ByteScan& scan, std::uint64_t operation) {
  if (operation == 'K') return scan.number(1);  // BININT1
  if (operation == 'M') return scan.number(2);  // BININT2
  if (operation == 'J')                         // BININT
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(scan.number(4)));
  return std::nullopt;
}

}  // namespace

std::optional<LabelledValue> parse_pickled_pair(std::span<const std::byte> value) {
  ByteScan scan(value);
  std::optional<std::span<const std::byte>> image;
  std::optional<std::int64_t> label;
  while (!scan.failed()) {
    const std::uint64_t operation = scan.number(1);
    if (scan.failed()) return std::nullopt;
    if (operation == '.') {  // STOP
      if (!image || !label) return std::nullopt;
      return LabelledValue{*image, *label};
    }
    if (skip_operation(scan, operation)) continue;
    if (!image) {
      image = pushed_bytes(scan, operation);
      if (!image) return std::nullopt;
    } else if (!label) {
      label = pushed_integer(scan, operation);
      if (!label) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<LabelledValue> parse_datum(std::span<const std::byte> value) {
  constexpr std::uint64_t kData = 4;
  constexpr std::uint64_t kLabel = 5;
  constexpr std::uint64_t kEncoded = 7;
  ByteScan scan(value);
  LabelledValue datum;
  bool encoded = false;
  while (!scan.at_end() && !scan.failed()) {
    const std::uint64_t tag = scan.varint();
    const std::uint64_t field = tag >> 3U;
    switch (tag & 7U) {
      case 0: {
        const std::uint64_t number = scan.varint();
        if (field == kLabel)
          datum.label = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
        if (field == kEncoded) encoded = number != 0;
        break;
      }
      case 1:
        scan.take(8);
        break;
      case 2: {
        const auto bytes = scan.take(scan.varint());
        if (field == kData) datum.image = bytes;
        break;
      }
      case 5:
        scan.take(4);
        break;
      default:
        return std::nullopt;
    }
  }
  if (scan.failed() || !encoded) return std::nullopt;
  return datum;
}

std::optional<std::int64_t> leading_number(std::string_view key) {
  const std::size_t end = std::min(key.find_first_not_of("0123456789"), key.size());
  return parse_number<std::int64_t>(key.substr(0, end));
}

}  // namespace cachebisect::stages

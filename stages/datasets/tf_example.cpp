#include "stages/datasets/tf_example.hpp"

#include <utility>

#include "stages/codecs/byte_scan.hpp"

#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

/// A field of a message: a number, or bytes.
struct WireField {
  std::uint64_t number = 0;
  unsigned wire = 0;
  std::uint64_t value = 0;           ///< of wire type 0
  std::span<const std::byte> bytes;  ///< of the others
};

/// The next field. Once the message is damaged, `scan` has failed.
WireField next_field(ByteScan& scan) {
  const std::uint64_t tag = scan.varint();
  WireField field{.number = tag >> 3U, .wire = static_cast<unsigned>(tag & 7U), .bytes = {}};
  if (field.wire == 0) field.value = scan.varint();
  if (field.wire == 1) field.bytes = scan.take(8);
  if (field.wire == 2) field.bytes = scan.take(scan.varint());
  if (field.wire == 5) field.bytes = scan.take(4);
  const bool is_known = field.wire == 0 || field.wire == 1 || field.wire == 2 || field.wire == 5;
  if (!is_known || field.number == 0) scan.fail();
  return field;
}

/// Calls take(field) for each field; false if the message, or what take() makes of it, is damaged.
template <class Take>
bool for_each_field(std::span<const std::byte> message, const Take& take) {
  ByteScan scan(message);
  while (!scan.at_end()) {
    const WireField field = next_field(scan);
    if (scan.failed() || !take(field)) return false;
  }
  return true;
}

bool is_message(const WireField& field, std::uint64_t number) {
  return field.number == number && field.wire == 2;
}

bool add_bytes(std::span<const std::byte> list, TfFeature& feature) {
  return for_each_field(list, [&](const WireField& field) {
    if (!is_message(field, 1)) return true;
    if (feature.values++ == 0) feature.bytes = field.bytes;
    return true;
  });
}

void add_integer(std::uint64_t value, TfFeature& feature) {
  if (feature.values++ == 0) feature.integer = static_cast<std::int64_t>(value);
}

/// Packed, as TensorFlow writes them, or each with a tag.
bool add_integers(std::span<const std::byte> list, TfFeature& feature) {
  return for_each_field(list, [&](const WireField& field) {
    if (field.number != 1) return true;
    if (field.wire == 0) add_integer(field.value, feature);
    if (field.wire != 2) return true;
    ByteScan packed(field.bytes);
    while (!packed.at_end() && !packed.failed()) {
      const std::uint64_t value = packed.varint();
      if (!packed.failed()) add_integer(value, feature);
    }
    return !packed.failed();
  });
}

bool parse_feature(std::span<const std::byte> message, TfFeature& feature) {
  return for_each_field(message, [&](const WireField& field) {
    if (field.wire != 2 || field.number < 1 || field.number > 3) return true;
    feature = {.bytes = {}};
    if (field.number == 1) {
      feature.kind = TfFeature::Kind::bytes;
      return add_bytes(field.bytes, feature);
    }
    feature.kind = field.number == 2 ? TfFeature::Kind::floats : TfFeature::Kind::integers;
    return field.number == 2 || add_integers(field.bytes, feature);
  });
}

struct TfEntry {
  std::string_view key;
  std::span<const std::byte> value;
};

bool parse_entry(std::span<const std::byte> message, TfEntry& entry) {
  return for_each_field(message, [&](const WireField& field) {
    if (is_message(field, 1)) {
      entry.key = {reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size()};
    }
    if (is_message(field, 2)) entry.value = field.bytes;
    return true;
  });
}

void note_key(std::string_view key, std::string& keys) {
  constexpr std::size_t kShownKeys = 200;
  if (keys.size() < kShownKeys) keys += (keys.empty() ? "" : ", ") + quote(key);
}

}  // namespace

std::optional<TfFeatures> parse_example(std::span<const std::byte> example, std::string_view image,
                                        std::string_view label, bool with_keys) {
  TfFeatures found;
  const auto take_entry = [&](const WireField& entry_field) {
    if (!is_message(entry_field, 1)) return true;
    TfEntry entry;
    if (!parse_entry(entry_field.bytes, entry)) return false;
    if (with_keys) note_key(entry.key, found.keys);
    TfFeature feature{.bytes = {}};
    if (!parse_feature(entry.value, feature)) return false;
    if (entry.key == image) found.image = feature;
    if (entry.key == label) found.label = feature;
    return true;
  };
  const bool whole = for_each_field(example, [&](const WireField& field) {
    return !is_message(field, 1) || for_each_field(field.bytes, take_entry);
  });
  return whole ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace cachebisect::stages

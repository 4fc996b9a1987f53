// Features of a tf.train.Example, the usual content of a record of TensorFlow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

/// The first value of a feature, and how many it has.
struct TfFeature {
  enum class Kind { absent, bytes, floats, integers };
  Kind kind = Kind::absent;  ///< absent, also: a feature without a list
  std::uint64_t values = 0;  ///< of floats 0
  std::span<const std::byte> bytes;
  std::int64_t integer = 0;
};

/// Views of an Example. Of a key that comes twice, the last one counts, as in Protocol Buffers.
struct TfFeatures {
  TfFeature image;
  TfFeature label;
  std::string keys;  ///< for messages: some of those that it has
};

/// Those of these keys. Empty if `example` is no Example. Allocates nothing unless `with_keys`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<TfFeatures> parse_example(
    std::span<const std::byte> example, std::string_view image, std::string_view label,
    bool with_keys = false);

}  // namespace cachebisect::stages

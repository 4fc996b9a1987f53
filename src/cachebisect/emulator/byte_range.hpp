// The Range header of a request: one part of an object.
#pragma once

#include <cstdint>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What is to be sent of an object.
struct ByteRange {
  enum class Kind {
    whole,  ///< no range was asked for, or one that may be ignored: several, or another unit
    part,
    outside,  ///< no byte of the object is in it (416)
  };
  Kind kind = Kind::whole;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// The bytes of an object of `size` bytes that are asked for, by RFC 9110, 14.2. `header` is the
/// value of the header, which may be anything.
[[nodiscard]] CACHEBISECT_INTERNAL_API ByteRange parse_range(std::string_view header,
                                                             std::uint64_t size) noexcept;

}  // namespace cachebisect

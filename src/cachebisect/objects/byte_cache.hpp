// Keeps ranges of objects of servers nearer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Bytes of an object.
struct ObjectRange {
  const std::string& object;  ///< its whole address, size and tag: another text is another object
  std::uint64_t offset = 0;
};

/// Thread safe. What is not there, or not whole, is asked of the server again: neither call fails.
class CACHEBISECT_INTERNAL_API ByteCache {
 public:
  ByteCache() = default;
  ByteCache(const ByteCache&) = delete;
  ByteCache& operator=(const ByteCache&) = delete;
  virtual ~ByteCache();

  /// Fills `first`, then `second`, if a range of so many bytes is kept. False if it is not; they
  /// may have changed then.
  virtual bool find(const ObjectRange& range, std::span<std::byte> first,
                    std::span<std::byte> second) noexcept = 0;
  virtual void keep(const ObjectRange& range, std::span<const std::byte> first,
                    std::span<const std::byte> second) noexcept = 0;
};

}  // namespace cachebisect

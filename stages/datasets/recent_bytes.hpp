// Keeps the bytes that were made last, by number, within a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

/// What was used last stays. For a few large items; one thread at a time.
class CACHEBISECT_INTERNAL_API RecentBytes {
 public:
  explicit RecentBytes(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Null if it is not there.
  [[nodiscard]] const std::vector<std::byte>* find(std::uint64_t number);
  /// The bytes of `number`, which fill(bytes) fills; null if they are more than the limit. What is
  /// filled by a call that throws is not kept.
  template <class Fill>
  const std::vector<std::byte>* make(std::uint64_t number, std::size_t bytes, const Fill& fill) {
    if (bytes > limit_bytes_) return nullptr;
    Item& item = make_room(bytes);
    fill(item.bytes);
    item.number = number;
    return &item.bytes;
  }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Item {
    std::uint64_t number = kNone;
    std::vector<std::byte> bytes;
  };

  /// At the front, without a number.
  Item& make_room(std::size_t bytes);

  std::size_t limit_bytes_;
  std::list<Item> items_;  // used last: first
};

}  // namespace cachebisect::stages

// Takes values from the front of untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cachebisect::stages {

/// Takes bytes from the front; once something is missing, all that follows is empty.
class ByteScan {
 public:
  explicit ByteScan(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  void fail() noexcept { failed_ = true; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  std::span<const std::byte> take(std::uint64_t count) noexcept {
    if (count > rest_.size()) failed_ = true;
    if (failed_) return {};
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  /// Little endian.
  std::uint64_t number(std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    const auto taken = take(bytes);
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= std::to_integer<std::uint64_t>(taken[i]) << 8 * i;
    return value;
  }
  /// As protocol buffers write it.
  std::uint64_t varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = number(1);
      value |= (byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace cachebisect::stages

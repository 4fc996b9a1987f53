// The bytes of a NetCDF header, read forward.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

/// Reads big-endian numbers and names. What lies beyond the end of the file is Error(data).
class NetcdfHeaderBytes {
 public:
  explicit NetcdfHeaderBytes(const InputFile& file) : file_(file) {}

  /// After the format is known: bytes of counts, and of positions in the file.
  void set_widths(std::size_t count_bytes, std::size_t offset_bytes) noexcept {
    count_bytes_ = count_bytes;
    offset_bytes_ = offset_bytes;
  }

  std::uint64_t number(std::size_t bytes) {
    std::array<std::byte, 8> raw{};
    const std::span<std::byte> to = std::span(raw).first(bytes);
    read(to);
    std::uint64_t value = 0;
    for (const std::byte byte : to) value = value << 8U | std::to_integer<std::uint64_t>(byte);
    return value;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t count() { return number(count_bytes_); }
  std::uint64_t offset() { return number(offset_bytes_); }
  [[nodiscard]] std::size_t count_bytes() const noexcept { return count_bytes_; }

  /// A count of things of at least `each` bytes in the rest of the file.
  std::uint64_t count_of(std::uint64_t each) {
    const std::uint64_t found = count();
    if (found > left() / each) refuse("claims more than the file holds");
    return found;
  }

  std::string name() {
    constexpr std::uint64_t kLongest = 256;  // NC_MAX_NAME
    const std::uint64_t bytes = count();
    if (bytes > kLongest) refuse("has a name of " + std::to_string(bytes) + " bytes");
    std::string text(bytes, '\0');
    read(std::as_writable_bytes(std::span(text)));
    skip(padded(bytes) - bytes);
    return text;
  }

  void read(std::span<std::byte> out) {
    if (out.size() > left()) refuse("ends within the file's header");
    while (!out.empty()) {
      if (at_ >= held_from_ + held_ || at_ < held_from_) fill();
      const auto from = static_cast<std::size_t>(at_ - held_from_);
      const std::size_t bytes = std::min(out.size(), held_ - from);
      std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(from), bytes, out.begin());
      at_ += bytes;
      out = out.subspan(bytes);
    }
  }
  void skip(std::uint64_t bytes) {
    if (bytes > left()) refuse("ends within the file's header");
    at_ += bytes;
  }

  [[nodiscard]] static std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + 3) / 4 * 4;
  }
  [[nodiscard]] std::uint64_t left() const noexcept { return file_.size() - at_; }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data, file_.path() + ": is no whole NetCDF file: at byte " +
                                     std::to_string(at_) + " the header " + what);
  }

 private:
  void fill() {
    held_from_ = at_;
    held_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left()));
    file_.read(at_, std::span(buffer_).first(held_));
  }

  const InputFile& file_;
  std::uint64_t at_ = 0;
  std::uint64_t held_from_ = 0;
  std::size_t held_ = 0;
  std::size_t count_bytes_ = 4;
  std::size_t offset_bytes_ = 4;
  std::array<std::byte, 8192> buffer_{};
};

}  // namespace cachebisect::stages

// Inflates gzip files piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <zlib.h>

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

/// The content of a gzip file from its beginning (several members are joined, as gzip does), no
/// further than it is asked for. One thread at a time.
class GzipReader {
 public:
  /// Throws Error(data) as InputFile does.
  explicit GzipReader(std::string path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// The size of the file as it is.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_.size(); }
  /// How much of it was read for the content so far.
  [[nodiscard]] std::uint64_t consumed() const noexcept { return offset_ - stream_.avail_in; }
  /// The largest content that a file of this size can have.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept;
  /// Fills `out` with the next bytes. Throws Error(data) if it is not a gzip file, is damaged, or
  /// ends earlier.
  void read(std::span<std::byte> out);
  /// As far as there are bytes; returns how many there were. Throws as read() does.
  std::size_t read_some(std::span<std::byte> out);
  /// Whether the content ends here, with the right check sum. Throws Error(data) if it is damaged
  /// or truncated.
  [[nodiscard]] bool at_end();

 private:
  /// The number of bytes made; 0 at the end.
  std::size_t inflate_some(std::span<std::byte> out);
  bool refill();
  [[noreturn]] void fail(const std::string& what) const;

  InputFile file_;
  std::vector<std::byte> compressed_;
  std::uint64_t offset_ = 0;  // in the file
  z_stream stream_{};
  bool between_members_ = false;
};

}  // namespace cachebisect::stages

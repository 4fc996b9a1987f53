// Lists the members of a tar archive, without reading what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stages/datasets/scan_window.hpp"
#include "stages/datasets/tar_header.hpp"

#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

/// A regular file in an archive.
struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  ///< of its bytes in the archive
  std::uint64_t bytes = 0;
};

/// Reads one header after the other and seeks over what is between them. Nothing that a header
/// claims is believed before the size of the file allows it. One thread at a time.
class CACHEBISECT_INTERNAL_API TarReader {
 public:
  /// `file` must outlive it.
  explicit TarReader(const ByteSource& file);

  /// The next regular file; links, folders and devices are passed over. Empty at the end. Throws
  /// Error(data) naming the archive and the byte if it is damaged, cut short or compressed, or has
  /// a sparse file.
  [[nodiscard]] std::optional<TarMember> next();

 private:
  /// The header at at_, and the place of what follows it, over which at_ moves on.
  struct Entry {
    char type = '0';
    TarMember member;
  };
  [[nodiscard]] std::optional<Entry> next_entry(const TarExtras& extras);
  [[nodiscard]] std::optional<TarHeader> next_header();
  void take_extras(const Entry& entry, TarExtras& extras);
  [[nodiscard]] std::string read_text(const TarMember& member);
  void check_room() const;
  [[noreturn]] void refuse_first_block(std::span<const std::byte> begin) const;
  [[noreturn]] void refuse(const std::string& what) const;

  const ByteSource* file_;
  std::uint64_t at_ = 0;      // of the next header
  std::uint64_t header_ = 0;  // of the present one, for messages
  bool ended_ = false;
  ScanWindow window_;
};

}  // namespace cachebisect::stages

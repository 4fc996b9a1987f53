// The entries of an LMDB file (format of LMDB 0.9), read without LMDB: nothing in it is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// All entries of the unnamed database, in the order of their keys, except those whose keys begin
/// with "__". Holds keys and places; values stay in the file. Takes no lock: the file must not be
/// written meanwhile. Thread safe.
class CACHEBISECT_INTERNAL_API LmdbFile {
 public:
  /// `path`: the file, or the folder of its data.mdb. Walks over its tree once. Throws Error(data)
  /// that names the file if it is damaged, cut short or of another format, has no entries, or has
  /// several values under a key; Error(interrupted) when the context's stop is requested.
  LmdbFile(const std::string& path, const OpenContext& context);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return places_.size(); }
  /// Valid as long as this. Throws std::out_of_range.
  [[nodiscard]] std::string_view key(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t value_bytes(std::uint64_t index) const {
    return places_.at(index).bytes;
  }
  /// Where the value lies in the file.
  [[nodiscard]] std::uint64_t value_offset(std::uint64_t index) const {
    return places_.at(index).offset;
  }
  /// Fills `out`, which has value_bytes(). Throws Error(data) if the file was changed or damaged.
  void read(std::uint64_t index, std::span<std::byte> out) const;

 private:
  class Walk;
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    bool has_page_header = false;  ///< right before it
  };

  [[noreturn]] void refuse(const std::string& what) const;

  InputFile file_;
  std::vector<Place> places_;
  std::vector<std::uint64_t> key_ends_;  ///< in keys_
  std::string keys_;
};

}  // namespace cachebisect::stages

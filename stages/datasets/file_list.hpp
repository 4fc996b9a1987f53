// The files of a data set: folder, name and label of each, in few bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/memory.hpp"

namespace cachebisect::stages {

/// A file costs its name and nine bytes, and while the list grows up to sixteen more; a folder
/// costs its path once. Names lie in blocks that never move.
class CACHEBISECT_INTERNAL_API FileList {
 public:
  FileList() = default;
  FileList(FileList&&) = default;
  FileList& operator=(FileList&&) = default;
  FileList(const FileList&) = delete;
  FileList& operator=(const FileList&) = delete;
  ~FileList() = default;

  /// The files that are added next are in this folder.
  void begin_folder(std::string path, std::uint32_t label);
  /// `file` has at most 1,000,000 bytes.
  void add(std::string_view file);
  /// Sorts the files that were added since begin_folder(). `less` compares names; it may throw.
  void sort_folder(const std::function<bool(const char*, const char*)>& less);
  void shrink_to_fit() { offsets_.shrink_to_fit(); }

  [[nodiscard]] std::uint64_t size() const noexcept { return offsets_.size(); }
  [[nodiscard]] std::uint32_t label(std::uint64_t index) const { return folder_of(index).label; }
  /// Valid as long as the list.
  [[nodiscard]] std::string_view folder(std::uint64_t index) const { return folder_of(index).path; }
  /// NUL-terminated. Valid as long as the list.
  [[nodiscard]] const char* name(std::uint64_t index) const { return at(offsets_.at(index)); }
  /// Folder, slash and name, NUL-terminated, in memory of `scratch`.
  [[nodiscard]] const char* path(std::uint64_t index, Arena& scratch) const;
  /// Bytes of memory that the list holds.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Folder {
    std::string path;
    std::uint32_t label;
    std::uint64_t first;  ///< index of its first file
  };
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  using Block = std::array<char, kBlockBytes>;

  [[nodiscard]] const Folder& folder_of(std::uint64_t index) const;
  [[nodiscard]] const char* at(std::uint64_t offset) const {
    return blocks_[offset / kBlockBytes]->data() + offset % kBlockBytes;
  }

  std::vector<Folder> folders_;
  std::vector<std::uint64_t> offsets_;  // of names, counted through all blocks
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_ = kBlockBytes;  // of the last block
};

}  // namespace cachebisect::stages

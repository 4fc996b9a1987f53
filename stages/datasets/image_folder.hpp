// Lists the image files of a folder with one subfolder per class, like torchvision's ImageFolder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachebisect::stages {

/// Paths and labels. All paths share one block of memory, with a few bytes of overhead each.
class FileList {
 public:
  void add(std::string_view path, std::uint32_t label);
  void shrink_to_fit();

  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
  /// The path, NUL-terminated. Valid until the list changes.
  [[nodiscard]] const char* path(std::uint64_t index) const {
    return text_.data() + at(index).begin;
  }
  [[nodiscard]] std::uint32_t label(std::uint64_t index) const { return at(index).label; }

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint32_t label;
  };
  [[nodiscard]] const Entry& at(std::uint64_t index) const { return entries_.at(index); }

  std::string text_;
  std::vector<Entry> entries_;
};

/// Lists the files under `root` whose names end in one of the `extensions` (lower case, with the
/// dot; case is ignored). Classes are the folders of `root` sorted by name; within a class, files
/// of all depths are in natural order. Links are followed. Throws Error(data) for a folder that
/// cannot be read, a loop of links, a broken link, an image's name on something that is not a
/// regular file, no class at all, or a class without images.
FileList list_image_folder(const std::string& root, std::span<const std::string> extensions);

}  // namespace cachebisect::stages

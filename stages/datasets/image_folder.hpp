// The list of image files below a folder with a folder a class, as torchvision's ImageFolder reads
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachebisect::stages {

/// All paths in one piece of memory: some bytes beyond the names themselves, however many there
/// are.
class FileList {
 public:
  void add(std::string_view path, std::uint32_t label);
  void shrink_to_fit();

  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
  /// The path, ended by a NUL. Valid as long as the list is not changed.
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

/// Lists the files of `root` whose names end in one of the `extensions` (lower case, with the dot;
/// case is ignored). Classes are the folders of `root` sorted by name; within a class files come in
/// natural order, folders of any depth included; links are followed. Throws Error(data) on a folder
/// that cannot be read, a loop of links, a dangling link, something that is no regular file under
/// an image's name, no class at all, or a class without images.
FileList list_image_folder(const std::string& root, std::span<const std::string> extensions);

}  // namespace cachebisect::stages

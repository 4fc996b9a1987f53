#include "stages/datasets/file_list.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {

void FileList::begin_folder(std::string path, std::uint32_t label) {
  folders_.push_back({std::move(path), label, size()});
}

void FileList::add(std::string_view file) {
  const std::size_t bytes = file.size() + 1;
  if (bytes > kBlockBytes || folders_.empty()) {
    throw Error(ErrorKind::internal, "a file list cannot hold this name");
  }
  if (used_ + bytes > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<Block>());
    used_ = 0;
  }
  char* const place = blocks_.back()->data() + used_;
  std::memcpy(place, file.data(), file.size());
  place[file.size()] = '\0';
  offsets_.push_back((blocks_.size() - 1) * kBlockBytes + used_);
  used_ += bytes;
}

void FileList::sort_folder(const std::function<bool(const char*, const char*)>& less) {
  const auto first = offsets_.begin() + static_cast<std::ptrdiff_t>(folders_.back().first);
  std::sort(first, offsets_.end(),
            [&](std::uint64_t a, std::uint64_t b) { return less(at(a), at(b)); });
}

const FileList::Folder& FileList::folder_of(std::uint64_t index) const {
  if (index >= size()) {
    throw Error(ErrorKind::internal, "file " + std::to_string(index) + " of " +
                                         std::to_string(size()) + " was requested");
  }
  const auto after = std::ranges::upper_bound(folders_, index, {}, &Folder::first);
  return *std::prev(after);
}

const char* FileList::path(std::uint64_t index, Arena& scratch) const {
  const std::string_view folder_path = folder(index);
  const std::string_view file = name(index);
  const auto whole = scratch.take_array<char>(folder_path.size() + file.size() + 2);
  std::memcpy(whole.data(), folder_path.data(), folder_path.size());
  whole[folder_path.size()] = '/';
  std::memcpy(whole.data() + folder_path.size() + 1, file.data(), file.size() + 1);
  return whole.data();
}

std::size_t FileList::bytes() const noexcept {
  std::size_t bytes = blocks_.size() * kBlockBytes + offsets_.capacity() * sizeof(offsets_[0]);
  for (const Folder& folder : folders_) bytes += sizeof(folder) + folder.path.capacity();
  return bytes;
}

}  // namespace cachebisect::stages

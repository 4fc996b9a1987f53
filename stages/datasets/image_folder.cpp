#include "stages/datasets/image_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "stages/datasets/file.hpp"
#include "stages/datasets/natural_order.hpp"
#include <dirent.h>
#include <sys/stat.h>

namespace cachebisect::stages {
namespace {

constexpr std::size_t kMaxDepth = 64;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::data, path + ": " + what);
}

/// Identity of a folder, to detect a folder that is its own ancestor.
struct FolderId {
  dev_t device;
  ino_t inode;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

struct Listing {
  std::vector<std::string> folders;  // paths
  std::vector<std::string> files;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode;
  struct stat link {};
  if (errno == ENOENT && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
    fail(path, "is a broken link; remove it or fix its target");
  fail(path, "cannot be examined: " + errno_text(errno));
}

bool has_extension(std::string_view name, std::span<const std::string> extensions) {
  const auto same_letter = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  };
  return std::ranges::any_of(extensions, [&](const std::string& extension) {
    return name.size() > extension.size() &&
           std::ranges::equal(name.substr(name.size() - extension.size()), extension, same_letter);
  });
}

void sort_into(Listing& listing, const std::string& folder, const dirent& entry,
               std::span<const std::string> extensions) {
  const std::string path = folder + "/" + static_cast<const char*>(entry.d_name);
  const bool image_name = has_extension(path, extensions);
  if (entry.d_type == DT_REG) {
    if (image_name) listing.files.push_back(path);
    return;
  }
  if (entry.d_type == DT_DIR) return listing.folders.push_back(path);
  const bool may_be_folder = entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN;
  if (!image_name && !may_be_folder) return;
  const mode_t mode = mode_of(path);
  if (S_ISDIR(mode)) return listing.folders.push_back(path);
  if (!image_name) return;
  if (!S_ISREG(mode)) fail(path, "is named like an image but is not a regular file; remove it");
  listing.files.push_back(path);
}

Listing list_folder(const std::string& folder, std::span<const std::string> extensions) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
  if (!directory) fail(folder, "cannot be opened: " + errno_text(errno));
  Listing listing;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") sort_into(listing, folder, *entry, extensions);
  }
  if (errno != 0) fail(folder, "cannot be listed: " + errno_text(errno));
  std::ranges::sort(listing.files, natural_less);
  std::ranges::sort(listing.folders);
  return listing;
}

/// Adds `folder` to the path of folders being listed; throws if it is already on it.
void push_folder(const std::string& folder, std::vector<FolderId>& open_folders) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0)
    fail(folder, "cannot be examined: " + errno_text(errno));
  const FolderId id{status.st_dev, status.st_ino};
  if (std::ranges::find(open_folders, id) != open_folders.end())
    fail(folder, "leads back to a folder above it; remove the link");
  if (open_folders.size() >= kMaxDepth)
    fail(folder, "is over " + std::to_string(kMaxDepth) + " folders deep; is this the right path?");
  open_folders.push_back(id);
}

void collect(const std::string& folder, std::uint32_t label,
             std::span<const std::string> extensions, std::vector<FolderId>& open_folders,
             FileList& list) {
  push_folder(folder, open_folders);
  const Listing listing = list_folder(folder, extensions);
  for (const std::string& file : listing.files) list.add(file, label);
  for (const std::string& inner : listing.folders)
    collect(inner, label, extensions, open_folders, list);
  open_folders.pop_back();
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

void FileList::add(std::string_view path, std::uint32_t label) {
  entries_.push_back({text_.size(), label});
  text_.append(path).push_back('\0');
}

void FileList::shrink_to_fit() {
  text_.shrink_to_fit();
  entries_.shrink_to_fit();
}

FileList list_image_folder(const std::string& root, std::span<const std::string> extensions) {
  FileList list;
  std::vector<FolderId> open_folders;
  push_folder(root, open_folders);
  const Listing top = list_folder(root, extensions);
  if (top.folders.empty()) {
    fail(root, top.files.empty()
                   ? "has no class folders; give each class a folder with its images"
                   : "has images but no class folders; give each class a folder with its images");
  }
  for (std::uint32_t label = 0; label < top.folders.size(); ++label) {
    const std::uint64_t before = list.size();
    collect(top.folders[label], label, extensions, open_folders, list);
    if (list.size() == before)
      fail(top.folders[label], "has no images (" + joined(extensions) + "); remove the folder");
  }
  list.shrink_to_fit();
  return list;
}

}  // namespace cachebisect::stages

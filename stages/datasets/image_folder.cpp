#include "stages/datasets/image_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "stages/datasets/natural_order.hpp"
#include <dirent.h>
#include <sys/stat.h>

#include "cachebisect/base/file.hpp"
#include "cachebisect/base/number_format.hpp"

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

mode_t mode_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode;
  struct stat link {};
  if (errno == ENOENT && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
    fail(path, "is a broken link; remove it or fix its target");
  fail(path, "cannot be examined: " + errno_text(errno));
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class Lister {
 public:
  Lister(std::string root, std::span<const std::string> extensions, const OpenContext& context)
      : root_(std::move(root)), extensions_(extensions), context_(context) {}

  FileList run() {
    push_folder(root_);
    list_.begin_folder(root_, 0);
    const std::vector<std::string> classes = read_folder(root_);
    if (classes.empty()) {
      fail(root_,
           list_.size() == 0
               ? "has no class folders; give each class a folder with its images"
               : "has images but no class folders; give each class a folder with its images");
    }
    list_ = FileList();  // files next to the class folders have no class
    for (std::uint32_t label = 0; label < classes.size(); ++label)
      list_class(classes[label], label);
    list_.shrink_to_fit();
    return std::move(list_);
  }

 private:
  void list_class(const std::string& folder, std::uint32_t label) {
    const std::uint64_t before = list_.size();
    collect(folder, label);
    if (list_.size() > before) return;
    refuse_class(folder, extensions_);
  }

  /// Adds the files of `folder` and of the folders in it.
  void collect(const std::string& folder, std::uint32_t label) {
    push_folder(folder);
    list_.begin_folder(folder, label);
    const std::vector<std::string> inner = read_folder(folder);
    list_.sort_folder([this](const char* a, const char* b) {
      check();
      return natural_less(a, b);
    });
    for (const std::string& next : inner) collect(next, label);
    open_folders_.pop_back();
  }

  /// Adds the files of `folder` in any order; returns the paths of the folders in it, sorted.
  std::vector<std::string> read_folder(const std::string& folder) {
    const auto close = [](DIR* directory) { ::closedir(directory); };
    const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
    if (!directory) fail(folder, "cannot be opened: " + errno_text(errno));
    std::vector<std::string> folders;
    for (;;) {
      check();
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (entry == nullptr) break;
      const bool hidden = entry->d_name[0] == '.';
      if (!hidden) take(folder, *entry, folders);
    }
    if (errno != 0) fail(folder, "cannot be listed: " + errno_text(errno));
    std::ranges::sort(folders);
    return folders;
  }

  void take(const std::string& folder, const dirent& entry, std::vector<std::string>& folders) {
    const char* const name = static_cast<const char*>(entry.d_name);
    const bool image_name = has_extension(name, extensions_);
    if (entry.d_type == DT_REG) {
      if (image_name) list_.add(name);
      return;
    }
    const std::string path = folder + "/" + name;
    if (entry.d_type == DT_DIR) return folders.push_back(path);
    const bool may_be_folder = entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN;
    if (!image_name && !may_be_folder) return;
    const mode_t mode = mode_of(path);
    if (S_ISDIR(mode)) return folders.push_back(path);
    if (!image_name) return;
    if (!S_ISREG(mode)) fail(path, "is named like an image but is not a regular file; remove it");
    list_.add(name);
  }

  /// Adds `folder` to the path of folders being listed; throws if it is already on it.
  void push_folder(const std::string& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0)
      fail(folder, "cannot be examined: " + errno_text(errno));
    const FolderId id{status.st_dev, status.st_ino};
    if (std::ranges::find(open_folders_, id) != open_folders_.end())
      fail(folder, "leads back to a folder above it; remove the link");
    if (open_folders_.size() >= kMaxDepth) {
      fail(folder,
           "is over " + std::to_string(kMaxDepth) + " folders deep; is this the right path?");
    }
    open_folders_.push_back(id);
  }

  /// Called for every entry and comparison.
  void check() {
    constexpr std::uint64_t kBetweenChecks = 4096;
    if (++checks_ % kBetweenChecks != 0) return;
    context_.check_stop();
    context_.report("listing " + root_ + ": " + format_count(list_.size()) + " files");
  }

  std::string root_;
  std::span<const std::string> extensions_;
  const OpenContext& context_;
  FileList list_;
  std::vector<FolderId> open_folders_;
  std::uint64_t checks_ = 0;
};

}  // namespace

bool has_extension(std::string_view name, std::span<const std::string> extensions) {
  const auto same_letter = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  };
  return std::ranges::any_of(extensions, [&](const std::string& extension) {
    return name.size() > extension.size() &&
           std::ranges::equal(name.substr(name.size() - extension.size()), extension, same_letter);
  });
}

void refuse_class(const std::string& folder, std::span<const std::string> extensions) {
  fail(folder, "has no images (" + joined(extensions) + "); remove the folder");
}

FileList list_image_folder(const std::string& root, std::span<const std::string> extensions,
                           const OpenContext& context) {
  return Lister(root, extensions, context).run();
}

}  // namespace cachebisect::stages

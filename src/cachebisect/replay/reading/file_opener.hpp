// Opens files to ask about their pages, without bringing their metadata into memory if possible.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

/// Opens files by cached lookup (openat2 with RESOLVE_CACHED, Linux 5.12): the kernel opens a file
/// only if it holds the whole path in memory, and else leaves the disk alone.
class CACHEBISECT_INTERNAL_API FileOpener {
 public:
  /// Returns a descriptor, or -1 with errno set.
  using Open = std::function<int(const std::string& path)>;

  FileOpener();
  /// For tests: other ways to open a file.
  FileOpener(Open plain, Open cached);

  /// Cached lookup is used from now on if it finds `path`, which is opened for that and should have
  /// been read before.
  void learn(const std::string& path);
  /// True if files are opened by cached lookup.
  [[nodiscard]] bool uses_cached_lookup() const noexcept { return cached_works_; }

  /// Opens by cached lookup, or plainly if that does not work here. Empty: not in memory, which
  /// only a plain open can tell from missing. Not open: cannot be opened.
  [[nodiscard]] std::optional<FileDescriptor> open(const std::string& path) const;
  /// Opens whatever is in memory. Not open: cannot be opened.
  [[nodiscard]] FileDescriptor open_plainly(const std::string& path) const;

 private:
  Open plain_;
  Open cached_;
  bool cached_works_ = false;
};

}  // namespace cachebisect

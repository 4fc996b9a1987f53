// A temporary folder that this user alone may enter.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A temporary folder with mode 0700, removed with what is in it.
class CACHEBISECT_INTERNAL_API PrivateFolder {
 public:
  /// In $TMPDIR, or in /tmp if that is not set or too long for the path of a socket. Throws
  /// Error(output) if no folder can be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Removes it early, also from under a process that is ending and still writes there. Any thread.
  void remove() const noexcept;

 private:
  std::string path_;
};

}  // namespace cachebisect

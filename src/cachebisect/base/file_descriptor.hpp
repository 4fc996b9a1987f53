// A file descriptor with an owner, and the system's text for its errors.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Owns a file descriptor and closes it. Move only.
class CACHEBISECT_INTERNAL_API FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes the result of open() and similar calls; negative: nothing is open.
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Closes early, for writers: a failed close() may be the first to report a lost write. False on
  /// failure, with errno set; true if nothing was open.
  bool close() noexcept;

 private:
  int descriptor_ = -1;
};

/// "No such file or directory" for ENOENT. Thread safe, unlike strerror().
CACHEBISECT_INTERNAL_API std::string errno_text(int error);

}  // namespace cachebisect

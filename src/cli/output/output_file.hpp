// An output of the command. A file is written whole or not at all; what exists and is not a regular
// file (a device, a pipe, a FIFO) is written to and never replaced.
#pragma once

#include <string>
#include <string_view>

#include "output/output_target.hpp"

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::cli {

/// Checked and opened before anything is measured, so that a missing or read-only folder fails at
/// once. Removes the temporary files that killed processes left in the file's folder.
class OutputFile {
 public:
  /// Throws Error(output) naming the path and the remedy.
  explicit OutputFile(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A regular file, which is replaced; the opposite is a stream, which may block.
  [[nodiscard]] bool is_file() const noexcept { return target_.kind == OutputTarget::Kind::file; }
  /// Whether both replace the same file.
  [[nodiscard]] bool same_file(const OutputFile& other) const {
    return is_file() && other.replaces(target_.path);
  }
  /// Whether it replaces the file of this absolute path, with symbolic links followed.
  [[nodiscard]] bool replaces(const std::filesystem::path& file) const {
    return is_file() && target_.path == file;
  }
  /// A file: writes a temporary file in the same folder, syncs and renames it. A stream: writes; a
  /// FIFO waits for its reader. Throws Error(output); the temporary file is removed.
  void commit(std::string_view content);
  /// Removes the temporary file of a commit() that is under way, for a process that ends without
  /// unwinding. Any thread.
  void discard() const noexcept;

 private:
  void open_stream();
  void replace_file(std::string_view content);
  void write_to_stream(std::string_view content);
  void write_all(const FileDescriptor& file, std::string_view content) const;
  [[nodiscard]] FileDescriptor open_temporary() const;
  [[noreturn]] void fail(int code) const;

  std::string path_;
  OutputTarget target_;
  std::string temporary_;  // of a file
  FileDescriptor stream_;  // a FIFO without a reader is opened by commit()
};

}  // namespace cachebisect::cli

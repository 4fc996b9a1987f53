// An output that is written whole or not at all: to a temporary file in the same folder, renamed at
// the end.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::cli {

/// Opened before anything is measured, so that a missing or read-only folder fails at once.
class OutputFile {
 public:
  /// Throws Error(output) naming the path and the remedy.
  explicit OutputFile(std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes the temporary file unless commit() succeeded.
  ~OutputFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Writes, syncs and renames. Throws Error(output).
  void commit(std::string_view content);

 private:
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::string path_;
  std::string temporary_;
  FileDescriptor file_;
};

}  // namespace cachebisect::cli

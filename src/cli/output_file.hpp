// An output that is written whole or not at all: a temporary beside it, renamed at the end.
#pragma once

#include <string>
#include <string_view>

namespace cachebisect::cli {

/// Opened before anything is measured, so that a full or read-only folder is known at once.
class OutputFile {
 public:
  /// Throws Error(output) that names the folder and the remedy.
  explicit OutputFile(std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes the temporary when commit() was not reached.
  ~OutputFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Writes, syncs and renames. Throws Error(output).
  void commit(std::string_view content);

 private:
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::string path_;
  std::string temporary_;
  int file_ = -1;
};

}  // namespace cachebisect::cli

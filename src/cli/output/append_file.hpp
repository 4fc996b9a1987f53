// A file that runs are added to, line by line, by several processes at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "output/output_file.hpp"

namespace cachebisect::cli {

/// Checked before anything is measured. What exists and is not a regular file is written to.
class AppendFile {
 public:
  /// Throws Error(output) naming the path and the remedy. Makes no file.
  explicit AppendFile(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A regular file; the opposite is a stream, which may block.
  [[nodiscard]] bool is_file() const noexcept { return !stream_; }
  /// Whether `other` replaces this file.
  [[nodiscard]] bool same_file(const OutputFile& other) const;
  /// Adds a line that ends in a newline, in one piece, as the last line of the file. An unfinished
  /// line before it stays a line of its own. Throws Error(output); the file is then as before.
  void append(std::string_view line);

 private:
  std::string path_;
  std::optional<OutputFile> stream_;
};

}  // namespace cachebisect::cli

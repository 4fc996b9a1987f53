// A folder for outputs, made before anything is measured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cachebisect::cli {

/// Makes the folder and those above it that are missing. Those that it made are removed again at
/// the end if they are still empty, so that a failed run leaves nothing.
class OutputFolder {
 public:
  /// Throws Error(output) naming the path and the reason.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  ///< the outermost first
};

/// "results/benchmark/2026-01-31_12-00-00": of the present time, in UTC.
std::string timestamped_folder(const std::string& parent);

}  // namespace cachebisect::cli

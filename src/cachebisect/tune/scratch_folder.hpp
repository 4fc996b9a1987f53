// A folder that the user named for what trials write, and the subfolders that they make there.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::tune {

/// What a trial writes, about.
struct ScratchNeed {
  double bytes = 0;
  double bytes_per_sample = 0;
  double samples_per_second = 0;  ///< of the job as it is: below it nothing is gained
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API ScratchFolder {
 public:
  /// Throws Error(usage) if there can be no such folder, or if it cannot be written to.
  explicit ScratchFolder(const std::string& folder);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  /// Removes the folder if it was not there and nothing is left in it.
  ~ScratchFolder();

  /// Absolute.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Makes the folder unless it is there. Throws Error(output).
  void create() const;
  /// The path of a subfolder; notes whether it is there already.
  std::string subfolder(const std::string& name);
  /// Throws Error(data) if there is no room for a subfolder that is not there yet.
  void check_room(const std::string& written, double bytes) const;
  /// The limit of a cache file in a subfolder: `limit_bytes`, unless it is new and less is free.
  [[nodiscard]] double within_room(const std::string& written, double limit_bytes) const;
  /// True if memory holds all of it. Throws Error(data) if it does not and the disk is too slow for
  /// a gain, Error(interrupted).
  [[nodiscard]] bool fits_in_memory(const ScratchNeed& need, const std::stop_token& stop) const;
  /// Removes the files `names` of a subfolder, and the subfolder, unless it was there before this
  /// object. False if it stays.
  [[nodiscard]] bool remove(const std::string& written,
                            const std::vector<std::string>& names) const;

 private:
  std::string path_;
  std::set<std::string> own_;  ///< subfolders that were not there before
  bool is_new_ = false;        ///< the folder itself was not there
};

/// Names of the files of a cache.
[[nodiscard]] std::vector<std::string> names_of_cache();

}  // namespace cachebisect::tune

#include "cachebisect/base/disk_space.hpp"

#include <filesystem>
#include <system_error>

#include <sys/statvfs.h>

namespace cachebisect {

double free_bytes_at(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path place = fs::absolute(folder, ignored);
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statvfs status {};
  if (::statvfs(place.c_str(), &status) != 0) return 0;
  return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
}

}  // namespace cachebisect

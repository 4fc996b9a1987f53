#include "stages/datasets/data_folder.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

void require_data(const std::string& path, bool generate, const GeneratedSet& set) {
  if (path.empty()) throw Error(ErrorKind::data, "\"path\" is empty; name a folder");
  if (generate && is_absent(path)) return generate_folder(path, set);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(ErrorKind::data,
                path + ": " + errno_text(errno) +
                    (errno == ENOENT ? "; give the \"path\" of the data, or \"if_missing\": "
                                       "\"generate\" for a generated set in the same format"
                                     : ""));
  }
}

std::string find_data_folder(const std::string& folder,
                             std::initializer_list<std::string_view> subfolders,
                             std::initializer_list<std::string_view> names) {
  const auto holds_one = [&](const std::string& candidate) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return exists(candidate + "/" + std::string(name));
    });
  };
  if (holds_one(folder)) return folder;
  for (const std::string_view subfolder : subfolders) {
    std::string candidate = folder + "/" + std::string(subfolder);
    if (holds_one(candidate)) return candidate;
  }
  return folder;
}

std::string regenerate_hint(const std::string& path) {
  if (!is_generated(path)) return "";
  return " (cachebisect generated these files: delete the folder to generate them again)";
}

}  // namespace cachebisect::stages

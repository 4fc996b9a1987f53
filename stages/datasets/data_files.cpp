#include "stages/datasets/data_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stages/datasets/natural_order.hpp"
#include "stages/datasets/tar_paths.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {
namespace {

std::vector<std::string> data_files_in(const std::string& folder, const DataFileKind& kind) {
  std::vector<std::string> names;
  std::vector<std::string> packed;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    if (kind.is_one(name)) {
      names.push_back(std::move(name));
    } else if (kind.is_packed != nullptr && kind.is_packed(name)) {
      packed.push_back(std::move(name));
    }
  }
  if (error) {
    throw Error(ErrorKind::data, folder + ": cannot be listed: " + errno_text(error.value()));
  }
  if (names.empty()) names = std::move(packed);
  if (names.empty()) {
    throw Error(ErrorKind::data, folder + ": has no " + kind.name + " files (" + kind.names + ")");
  }
  std::ranges::sort(names, natural_less);
  for (std::string& name : names) name.insert(0, folder + "/");
  return names;
}

}  // namespace

std::vector<std::string> data_file_paths(const std::string& path, const DataFileKind& kind) {
  if (is_remote_path(path)) {
    throw Error(ErrorKind::usage, shown_path(path) + ": " + kind.name +
                                      " files are read from local disks; copy them, or take tar "
                                      "archives or prepared shards, which are read from servers");
  }
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return data_files_in(path, kind);
  if (exists(path)) return {path};
  std::vector<std::string> paths = expand_pattern(path);
  if (paths.size() > 1 || paths.front() != path) return paths;
  throw Error(ErrorKind::data, path + ": No such file or directory; give a " + kind.name +
                                   " file, a folder of them, or a pattern like " + kind.pattern);
}

}  // namespace cachebisect::stages

#include "cachebisect/launch/hook_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHook = "cachebisect/_hook";

bool is_hook(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "sitecustomize.py", ignored);
}

/// PREFIX/lib/python3.N/site-packages (Debian's own: dist-packages), of all versions.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    found.push_back(entry.path() / "dist-packages");
    found.push_back(entry.path() / "site-packages");
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// PREFIX/bin/cachebisect of an environment; build/PRESET/bin/cachebisect of a source tree.
std::vector<fs::path> candidates() {
  std::error_code ignored;
  const fs::path bin = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> folders;
  for (const fs::path& packages : package_folders(bin.parent_path())) {
    folders.push_back(packages / kHook);
  }
  folders.push_back(bin.parent_path().parent_path().parent_path() / "python" / kHook);
  return folders;
}

}  // namespace

std::string find_hook_folder(const std::string& chosen) {
  const char* const from_environment = std::getenv("CACHEBISECT_HOOK");
  std::vector<fs::path> folders;
  if (!chosen.empty()) {
    folders = {chosen};
  } else if (from_environment != nullptr && *from_environment != '\0') {
    folders = {from_environment};
  } else {
    folders = candidates();
  }
  std::string places;
  for (const fs::path& folder : folders) {
    if (is_hook(folder)) return fs::absolute(folder).lexically_normal().string();
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  throw Error(ErrorKind::usage, "no sitecustomize.py in " + places +
                                    "; install the Python package (pip install cachebisect), or "
                                    "give its folder cachebisect/_hook by --hook");
}

std::map<std::string, std::string> hook_environment(const std::string& folder) {
  const char* const value = std::getenv("PYTHONPATH");
  const std::string path = value == nullptr ? "" : value;
  std::map<std::string, std::string> added{
      {"CACHEBISECT", "1"},
      {"CACHEBISECT_HOOK", folder},
      {"PYTHONPATH", path.empty() ? folder : folder + ":" + path}};
  if (std::getenv("WANDB_MODE") == nullptr) added.emplace("WANDB_MODE", "offline");
  return added;
}

}  // namespace cachebisect

#include "cachebisect/train/module_path.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

std::vector<std::filesystem::path> torch_module_candidates(
    std::string_view module_path, const std::filesystem::path& executable_folder,
    const std::filesystem::path& core_folder) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::filesystem::path& file) {
    const auto normal = file.lexically_normal();
    if (std::find(files.begin(), files.end(), normal) == files.end()) files.push_back(normal);
  };
  while (!module_path.empty()) {
    const std::size_t colon = std::min(module_path.find(':'), module_path.size());
    const std::filesystem::path entry = module_path.substr(0, colon);
    if (!entry.empty()) add(entry.extension() == ".so" ? entry : entry / kTorchModuleFile);
    module_path.remove_prefix(std::min(colon + 1, module_path.size()));
  }
  if (!executable_folder.empty()) {
    add(executable_folder / kTorchModuleFile);
    add(executable_folder / "../lib" / kTorchModuleFile);
    add(executable_folder / "../lib/cachebisect" / kTorchModuleFile);
  }
  if (!core_folder.empty()) {
    add(core_folder / kTorchModuleFile);
    add(core_folder / "cachebisect" / kTorchModuleFile);
  }
  return files;
}

std::filesystem::path find_torch_module(const std::vector<std::filesystem::path>& candidates,
                                        std::string_view model) {
  std::string tried;
  for (const std::filesystem::path& file : candidates) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file;
    tried += (tried.empty() ? "" : ", ") + file.string();
  }
  throw Error(ErrorKind::usage,
              "train: model '" + std::string(model) +
                  "' needs the LibTorch module, and there is no file " + tried +
                  "; build it (scripts/run without --no-torch), set CACHEBISECT_MODULE_PATH to its "
                  "folder, or run without it (--device emulated)");
}

}  // namespace cachebisect

#include "cachebisect/base/own_module.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <dlfcn.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

std::vector<std::string> own_module_folders() {
  std::vector<std::string> folders;
  const char* path = std::getenv("CACHEBISECT_MODULE_PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&open_own_module), &self) != 0) {
    const std::string library = self.dli_fname;
    const std::string folder = library.substr(0, library.find_last_of('/') + 1);
    folders.push_back(folder.empty() ? "." : folder);
    folders.push_back(folder + "cachebisect");
  }
  return folders;
}

}  // namespace

std::shared_ptr<const SharedLibrary> open_own_module(const std::string& file,
                                                     const std::string& function) {
  std::string tried;
  const auto note = [&tried](std::string_view what) { (tried += "\n  ") += what; };
  for (const std::string& folder : own_module_folders()) {
    std::string path = folder;
    path.append("/").append(file);
    auto module = std::make_shared<const SharedLibrary>(path, SharedLibrary::Unload::never);
    if (!module->is_open()) {
      note(module->error());
    } else if (module->function<void (*)()>(function.c_str()) == nullptr) {
      note(path.append(": has no ").append(function).append("; it is from another version"));
    } else {
      return module;
    }
  }
  throw Error(ErrorKind::usage, file +
                                    " cannot be opened; set CACHEBISECT_MODULE_PATH to its folder. "
                                    "Tried:" +
                                    tried);
}

}  // namespace cachebisect

#include "stages/codecs/imgcodecs.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#include <dlfcn.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect::stages {
namespace {

#ifdef CACHEBISECT_WITH_OPENCV
constexpr const char* kModule = "libcachebisect_imgcodecs.so";
constexpr const char* kFunction = "cachebisect_imgcodecs_decode";

std::vector<std::string> module_folders() {
  std::vector<std::string> folders;
  const char* path = std::getenv("CACHEBISECT_MODULE_PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&open_imgcodecs), &self) != 0) {
    const std::string library = self.dli_fname;
    const std::string folder = library.substr(0, library.find_last_of('/') + 1);
    folders.push_back(folder.empty() ? "." : folder);
    folders.push_back(folder + "cachebisect");
  }
  return folders;
}
#endif

}  // namespace

DecodeImage open_imgcodecs() {
#ifdef CACHEBISECT_WITH_OPENCV
  std::string tried;
  for (const std::string& folder : module_folders()) {
    const std::string file = folder + "/" + kModule;
    const SharedLibrary module(file, SharedLibrary::Unload::never);
    if (!module.is_open()) {
      tried += "\n  " + module.error();
      continue;
    }
    if (const auto function = module.function<DecodeImage>(kFunction)) return function;
    tried += "\n  " + file + ": has no " + kFunction + "; it is from another version";
  }
  throw Error(ErrorKind::usage, std::string(kModule) +
                                    " cannot be opened; set CACHEBISECT_MODULE_PATH to its folder. "
                                    "Tried:" +
                                    tried);
#else
  throw Error(ErrorKind::usage,
              "this build can only decode JPEG; build with CACHEBISECT_WITH_OPENCV=ON");
#endif
}

}  // namespace cachebisect::stages

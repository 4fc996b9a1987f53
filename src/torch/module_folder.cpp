#include "module_folder.hpp"

#include <dlfcn.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {

std::filesystem::path module_folder() {
  Dl_info module{};
  const auto* here = reinterpret_cast<const void*>(&module_folder);
  if (dladdr(here, &module) == 0 || module.dli_fname == nullptr) {
    throw Error(ErrorKind::internal, "the loader does not know the file of the LibTorch module");
  }
  return std::filesystem::path(module.dli_fname).parent_path();
}

}  // namespace cachebisect::torch_module

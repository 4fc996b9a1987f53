#include "cachebisect/base/shared_library.hpp"

#include <dlfcn.h>

namespace cachebisect {

SharedLibrary::SharedLibrary(const std::string& file, Unload unload)
    : handle_(::dlopen(file.c_str(),
                       RTLD_NOW | RTLD_LOCAL | (unload == Unload::never ? RTLD_NODELETE : 0))) {
  if (handle_ != nullptr) return;
  const char* const reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
  error_ = reason != nullptr ? reason : "no reason given";
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* SharedLibrary::address(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

}  // namespace cachebisect

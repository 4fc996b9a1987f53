// For a command that is linked statically: a library would bring its own copy of the core, and of
// the C library.
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect {

SharedLibrary::SharedLibrary(const std::string& /*file*/, Unload /*unload*/)
    : handle_(nullptr), error_("this command is linked statically and loads no libraries") {}

SharedLibrary::~SharedLibrary() = default;

void* SharedLibrary::address(const char* /*symbol*/) const noexcept { return nullptr; }

}  // namespace cachebisect
